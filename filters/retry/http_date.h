// HTTP-date, RFC 9110 §5.6.7.
#pragma once
#include <chrono>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace damper::retry {

// Reads IMF-fixdate and the two obsolete forms (RFC 850, asctime). `now` settles the century of a
// two-digit year. Seconds since the epoch: the years that a date may have do not fit a WallTime.
std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text, WallTime now);

}  // namespace damper::retry
