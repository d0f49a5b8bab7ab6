#include "server/admin_query.h"

#include <algorithm>

#include "base/text.h"

namespace damper::server {
namespace {

// A '%' without two hexadecimal digits stands for itself: "ratio=5%" is what people type.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octet = percent_octet(text.substr(i));
    out += octet.value_or(text[i]);
    if (octet) i += 2;
  }
  return out;
}

}  // namespace

AdminQuery AdminQuery::parse(std::string_view method, std::string_view target,
                             std::string_view form) {
  const auto question = std::min(target.find('?'), target.size());
  AdminQuery out{.method = std::string(method),
                 .path = percent_decoded(target.substr(0, question)),
                 .parameters = {}};
  for (const auto source : {target.substr(std::min(question + 1, target.size())), form}) {
    for (const auto part : split(source, '&')) {
      const auto equals = std::min(part.find('='), part.size());
      out.parameters.emplace_back(percent_decoded(part.substr(0, equals)),
                                  percent_decoded(part.substr(std::min(equals + 1, part.size()))));
    }
  }
  return out;
}

std::string_view AdminQuery::get(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

bool AdminQuery::has(std::string_view name) const {
  return std::any_of(parameters.begin(), parameters.end(),
                     [name](const auto& p) { return p.first == name; });
}

}  // namespace damper::server
