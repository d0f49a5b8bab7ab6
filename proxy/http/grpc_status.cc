#include "http/grpc_status.h"

#include <array>

#include "base/text.h"

namespace damper::http {
namespace {

struct Name {
  std::string_view camel;
  std::string_view snake;
};

constexpr std::array<Name, 17> kNames = {{
    {"OK", "OK"},
    {"Canceled", "CANCELLED"},
    {"Unknown", "UNKNOWN"},
    {"InvalidArgument", "INVALID_ARGUMENT"},
    {"DeadlineExceeded", "DEADLINE_EXCEEDED"},
    {"NotFound", "NOT_FOUND"},
    {"AlreadyExists", "ALREADY_EXISTS"},
    {"PermissionDenied", "PERMISSION_DENIED"},
    {"ResourceExhausted", "RESOURCE_EXHAUSTED"},
    {"FailedPrecondition", "FAILED_PRECONDITION"},
    {"Aborted", "ABORTED"},
    {"OutOfRange", "OUT_OF_RANGE"},
    {"Unimplemented", "UNIMPLEMENTED"},
    {"Internal", "INTERNAL"},
    {"Unavailable", "UNAVAILABLE"},
    {"DataLoss", "DATA_LOSS"},
    {"Unauthenticated", "UNAUTHENTICATED"},
}};

Name name_of(int status) {
  const bool known = status >= 0 && static_cast<std::size_t>(status) < kNames.size();
  return known ? kNames[static_cast<std::size_t>(status)] : Name{};
}

}  // namespace

std::optional<int> grpc_status(const Fields& fields) {
  const auto text = fields.find(HeaderId::kGrpcStatus);
  const auto number = text ? parse_number(*text) : std::nullopt;
  if (!number || *number > 0x7fffffff) return std::nullopt;
  return static_cast<int>(*number);
}

int grpc_status_for(int http_status) {
  switch (http_status) {
    case 400: return 13;
    case 401: return 16;
    case 403: return 7;
    case 404: return 12;
    case 429:
    case 502:
    case 503:
    case 504: return 14;
    default: return 2;
  }
}

int http_status_for(int grpc_status) {
  constexpr std::array<int, kNames.size()> kStatuses = {200, 499, 500, 400, 504, 404, 409, 403, 429,
                                                        400, 409, 400, 501, 500, 503, 500, 401};
  const bool known = grpc_status >= 0 && static_cast<std::size_t>(grpc_status) < kStatuses.size();
  return known ? kStatuses[static_cast<std::size_t>(grpc_status)] : 500;
}

std::string_view grpc_camel_name(int status) { return name_of(status).camel; }

std::string_view grpc_snake_name(int status) { return name_of(status).snake; }

}  // namespace damper::http
