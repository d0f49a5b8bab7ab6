// The settings of the filter `admission`.
#pragma once
#include "config/cursor.h"
#include "config/model/filters.h"

namespace damper::config {

FilterSettings read_admission(Cursor& c);

}  // namespace damper::config
