// A configuration text as JSON, as it was read: what /config_dump shows.
#pragma once
#include <string>

#include "config/tree.h"

namespace damper::config {

std::string to_json(const Value& value);

}  // namespace damper::config
