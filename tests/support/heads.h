// Heads for tests, in one line.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "http/message.h"

namespace damper::tests {

using HeaderList = std::initializer_list<std::pair<std::string_view, std::string_view>>;

inline http::RequestHead request(std::string_view authority, std::string_view path,
                                 HeaderList headers = {}, std::string_view method = "GET") {
  http::RequestHead head;
  head.method = head.fields.arena().copy(method);
  head.set_authority(authority);
  head.set_path(path);
  for (const auto& [name, value] : headers) head.fields.add(name, value);
  return head;
}

inline http::ResponseHead response(int status, HeaderList headers = {}) {
  http::ResponseHead head;
  head.status = status;
  for (const auto& [name, value] : headers) head.fields.add(name, value);
  return head;
}

// "a: 1\nb: 2\n"
inline std::string text(const http::Fields& fields) {
  std::string out;
  for (const http::Field& f : fields) out.append(f.name).append(": ").append(f.value).append("\n");
  return out;
}

}  // namespace damper::tests
