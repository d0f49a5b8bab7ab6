#include "config/load/deadline.h"

#include <algorithm>

#include "config/load/common.h"

namespace damper::config {
namespace {

using Form = DeadlineFilter::Form;
using Header = DeadlineFilter::Header;

constexpr std::string_view kUsual[] = {"x-deadline", "x-request-deadline",
                                       "x-envoy-expected-rq-timeout-ms", "grpc-timeout"};

bool is_usual(std::string_view name) {
  return std::find(std::begin(kUsual), std::end(kUsual), name) != std::end(kUsual);
}

bool read_name(const Cursor& c, std::string& name) {
  if (!read_changed_header_name(c, name)) return false;
  if (!is_usual(name)) return true;
  c.error("\"" + name + "\" is read anyway, in its own form");
  return false;
}

// A name alone holds a time of day.
void read_header(Cursor c, std::vector<Header>& out) {
  Header header;
  if (c.is_scalar()) {
    if (read_name(c, header.name)) out.push_back(std::move(header));
    return;
  }
  if (!c.is_mapping_or_error()) return;
  if (!c.has("name")) c.missing("name");
  const Cursor name = c.at("name");
  c.read_word<Form>(
      "form", header.form,
      {{"absolute", Form::kAbsolute}, {"relative", Form::kRelative}, {"grpc", Form::kGrpc}});
  const bool named = name && read_name(name, header.name);
  c.no_other_keys("DeadlineHeader");
  if (named) out.push_back(std::move(header));
}

// Only what can be read by the next Damper is worth telling it.
void read_emit(const std::vector<Cursor>& items, DeadlineFilter& out) {
  std::vector<std::string_view> known(std::begin(kUsual), std::end(kUsual));
  for (const Header& header : out.headers) known.push_back(header.name);
  out.emit.clear();
  for (const Cursor& item : items) {
    std::string name;
    if (!read_header_name(item, name)) continue;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      item.error(
          "unknown form of a deadline \"" + name + "\"",
          "x-deadline, x-request-deadline, x-envoy-expected-rq-timeout-ms, grpc-timeout, or a "
          "name that stands in headers");
      continue;
    }
    out.emit.push_back(std::move(name));
  }
}

}  // namespace

FilterSettings read_deadline(Cursor& c) {
  DeadlineFilter out;
  if (const Cursor cost = c.at("expected_cost")) {
    out.learn_cost = cost.is_scalar() && cost.value()->text == "learned";
    Duration told{};
    if (!out.learn_cost && cost.get(told)) out.expected_cost = told;
  }
  c.read("margin", out.margin);
  c.read("max", out.max, kPositive);
  c.read("default", out.if_none, kPositive);
  c.read("min_attempt_time", out.min_attempt_time);
  for (const Cursor& header : c.list("headers")) read_header(header, out.headers);
  if (out.headers.size() > DeadlineFilter::kMostHeaders) {
    c.at("headers").error("more than " + std::to_string(DeadlineFilter::kMostHeaders) + " headers");
  }
  if (c.has("emit")) read_emit(c.list("emit"), out);
  read_filter_mode(c, out.mode);
  c.no_other_keys("Deadline");
  return out;
}

}  // namespace damper::config
