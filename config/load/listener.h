// Listeners: Envoy's message and the short form.
#pragma once
#include "config/cursor.h"
#include "config/model/listener.h"

namespace damper::config {

Listener read_listener(Cursor c);

}  // namespace damper::config
