// The operators of access log formats, %NAME(argument):length%: Envoy's for what exists here, and
// ours. Compiled once, run for every line.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/fields.h"
#include "stream/access_record.h"
#include "stream/time_format.h"

namespace damper::stream {

// A field of a head, or what stands beside the fields there.
struct HeaderName {
  enum class Source {
    kField,
    kMethod,
    kPath,
    kOriginalPath,
    kAuthority,
    kScheme,
    kStatus,
    kContentLength,
    kUpgrade
  };
  Source source = Source::kField;
  http::HeaderId id = http::HeaderId::kOther;
  std::string text;
};

using Instant = std::optional<TimePoint> (*)(const AccessRecord&);

// What stood between the parentheses; each operator uses its part.
struct Arguments {
  std::vector<HeaderName> headers;  // of X?Y: the first that exists
  std::optional<TimeFormat> time;
  Instant from = nullptr, to = nullptr;
  Duration unit{1};
  std::string_view (*grpc_name)(int status) = nullptr;  // null: the number
  std::string text;
};

struct Operator {
  // Appends the value. False: there is none, and nothing was appended.
  bool (*write)(const AccessRecord&, const Arguments&, std::string& out) = nullptr;
  Arguments arguments;
  bool number = false;  // the value is a whole number
  std::optional<std::size_t> at_most_bytes;

  // The value as it is, cut to its length: it may hold any byte.
  bool append(const AccessRecord& record, std::string& out) const;
};

// %name(argument):at_most_bytes%; no argument is an empty one. Error: an unknown name (with the one
// that may be meant) or a wrong argument.
Result<Operator> compile_operator(std::string_view name, std::string_view argument,
                                  std::optional<std::size_t> at_most_bytes);

}  // namespace damper::stream
