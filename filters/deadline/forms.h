// How a deadline is written in a header: as a time of day, or as what is left.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "config/model/filters.h"

namespace damper::deadline {

using Form = config::DeadlineFilter::Form;

// What is left by that word, at most a day and possibly less than nothing; none: it is unreadable.
// Absolute values are compared with `wall`, ours.
std::optional<Duration> read(Form form, std::string_view text, WallTime wall);

// The same deadline told to somebody else; a relative one is at least a millisecond.
std::string write(Form form, Duration left, WallTime wall);

// RFC 3339: "2026-11-30T12:00:00.250Z", "…+01:00".
std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace damper::deadline
