#include "stream/pieces.h"

#include <algorithm>

#include "base/text.h"

namespace damper::stream {
namespace {

struct Call {  // NAME(argument):length
  std::string_view name;
  std::string_view argument;
  std::optional<std::size_t> at_most_bytes;
  std::size_t length = 0;  // in the format, with the % at its end
};

bool is_name(char c) { return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

// The end of a call: "%" or ":12%".
bool read_call_end(std::string_view text, Call& out) {
  const auto percent = text.find('%');
  if (percent == std::string_view::npos) return false;
  out.length += percent + 1;
  if (percent == 0) return true;
  const auto n = text.front() == ':' ? parse_number(text.substr(1, percent - 1)) : std::nullopt;
  out.at_most_bytes = n;
  return n.has_value();
}

// The argument may itself hold '%' and ')': it ends at the first ')' after which the call can end.
std::optional<Call> read_call(std::string_view text) {
  Call out;
  const auto name_end =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_name) - text.begin());
  out.name = text.substr(0, name_end);
  if (out.name.empty()) return std::nullopt;
  if (!text.substr(name_end).starts_with('(')) {
    out.length = name_end;
    return read_call_end(text.substr(name_end), out) ? std::optional(out) : std::nullopt;
  }
  const std::size_t open = name_end + 1;
  for (auto close = text.find(')', open); close != std::string_view::npos;
       close = text.find(')', close + 1)) {
    out.argument = text.substr(open, close - open);
    out.length = close + 1;
    if (read_call_end(text.substr(close + 1), out)) return out;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Piece>> parse_format(std::string_view format) {
  std::vector<Piece> out(1);
  for (std::size_t at = 0; at < format.size();) {
    const auto percent = std::min(format.find('%', at), format.size());
    out.back().literal.append(format.substr(at, percent - at));
    if (percent == format.size()) break;
    const std::string_view rest = format.substr(percent + 1);
    if (rest.starts_with('%')) {
      out.back().literal.push_back('%');
      at = percent + 2;
      continue;
    }
    const auto call = read_call(rest);
    if (!call) {
      return Error{Errc::kInvalid, Side::kLocal,
                   "no operator at \"" + std::string(format.substr(percent, 24)) +
                       "\"; a literal % is written %%"};
    }
    TRY_ASSIGN(out.back().value, compile_operator(call->name, call->argument, call->at_most_bytes));
    out.emplace_back();
    at = percent + 1 + call->length;
  }
  return out;
}

}  // namespace damper::stream
