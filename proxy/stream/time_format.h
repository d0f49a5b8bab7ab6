// Points in time as log lines carry them, in UTC and without a locale.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace damper::stream {

// "2026-01-02T03:04:05.678Z"
void append_iso8601(std::string& out, WallTime at);

// A pattern of strftime(3), with Envoy's %f (nanoseconds), %1f … %9f (the first digits of them),
// %s (seconds since 1970) and %E1S … %E9S (seconds with digits).
class TimeFormat {
 public:
  static Result<TimeFormat> compile(std::string_view pattern);
  void write(WallTime at, std::string& out) const;

 private:
  struct Part {
    std::string literal;     // before the conversion
    char conversion = 0;     // 0: none, the end
    std::size_t digits = 0;  // of %f and %ES
  };

  std::vector<Part> parts_;
};

}  // namespace damper::stream
