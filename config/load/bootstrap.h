// The whole file: Envoy's bootstrap or the short form, both into the same model.
#pragma once
#include "config/cursor.h"
#include "config/model/bootstrap.h"

namespace damper::config {

Bootstrap read_bootstrap(Cursor c);

}  // namespace damper::config
