// The settings of the filter `deadline`.
#pragma once
#include "config/cursor.h"
#include "config/model/filters.h"

namespace damper::config {

FilterSettings read_deadline(Cursor& c);

}  // namespace damper::config
