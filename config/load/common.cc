#include "config/load/common.h"

#include "base/text.h"
#include "config/session.h"

namespace damper::config {
namespace {

constexpr Range<std::uint16_t> kPorts{.least = 0, .most = 65535};

bool check_host(const Cursor& c, HostForm form, const std::string& host) {
  if (host.empty()) return c.missing("address"), false;
  if (form == HostForm::kIpOrName || is_ip_address(host)) return true;
  c.error("expected an IP address, got \"" + host + "\"",
          host == "localhost" ? "did you mean 127.0.0.1?" : "");
  return false;
}

bool read_pipe(Cursor c, Endpoint& out) {
  if (!c.is_mapping_or_error()) return false;
  c.read("path", out.unix_path);
  if (out.unix_path.empty()) c.missing("path");
  c.no_other_keys("Pipe");
  return !out.unix_path.empty();
}

struct PatternKey {
  std::string_view key;
  StringMatch::Kind kind;
};
constexpr PatternKey kPatternKeys[] = {{"exact", StringMatch::Kind::kExact},
                                       {"prefix", StringMatch::Kind::kPrefix},
                                       {"suffix", StringMatch::Kind::kSuffix},
                                       {"contains", StringMatch::Kind::kContains}};

// HeaderMatcher's older fields, which say without a StringMatcher what it says.
constexpr PatternKey kOldPatternKeys[] = {{"exact_match", StringMatch::Kind::kExact},
                                          {"prefix_match", StringMatch::Kind::kPrefix},
                                          {"suffix_match", StringMatch::Kind::kSuffix},
                                          {"contains_match", StringMatch::Kind::kContains}};

void read_range(Cursor c, HeaderMatch& out) {
  if (!c) return;
  std::pair<std::int64_t, std::int64_t> range{};
  c.read("start", range.first);
  c.read("end", range.second);
  if (range.second <= range.first)
    c.error("end must be greater than start: it is the first number outside");
  c.no_other_keys("Int64Range");
  out.range = range;
}

void read_old_patterns(Cursor& c, HeaderMatch& out) {
  for (const PatternKey& old : kOldPatternKeys) {
    if (const Cursor text = c.at(old.key))
      text.get(out.value.emplace(StringMatch{.kind = old.kind}).text);
  }
  if (const Cursor regex = c.object("safe_regex_match")) {
    read_regex(regex, out.value.emplace(StringMatch{.kind = StringMatch::Kind::kRegex}).text);
  }
}

}  // namespace

bool read_socket_address(Cursor c, PortIs port, HostForm form, Endpoint& out) {
  if (!c.is_mapping_or_error()) return false;
  enum class Protocol { kTcp } protocol{};
  c.read_word("protocol", protocol, {{"TCP", Protocol::kTcp}});
  if (port == PortIs::kRequired && !c.has("port_value")) c.missing("port_value");
  Cursor host = c.at("address");
  host.get(out.host);
  c.read("port_value", out.port, kPorts);
  c.no_other_keys("SocketAddress");
  return host ? check_host(host, form, out.host) : check_host(c, form, out.host);
}

bool read_address(Cursor c, HostForm form, Endpoint& out) {
  if (!c.is_mapping()) {
    std::string text;
    if (!c.get(text)) return false;
    const auto endpoint = parse_endpoint(text);
    if (!endpoint) return c.expected("an address such as 127.0.0.1:8080 or unix:/path"), false;
    out = *endpoint;
    return out.is_unix() || check_host(c, form, out.host);
  }
  bool good = c.one_of({"socket_address", "pipe"}, !c.has("envoy_internal_address"));
  if (const Cursor socket = c.at("socket_address"))
    good = read_socket_address(socket, PortIs::kRequired, form, out) && good;
  if (const Cursor pipe = c.at("pipe")) good = read_pipe(pipe, out) && good;
  c.no_other_keys("Address");
  return good;
}

std::vector<CidrRange> read_ranges(const std::vector<Cursor>& items) {
  std::vector<CidrRange> out;
  for (Cursor c : items) {
    std::string text;
    if (c.is_mapping()) {
      std::uint32_t length = 0;
      c.read("address_prefix", text);
      c.read("prefix_len", length);
      c.no_other_keys("CidrRange");
      text += "/" + std::to_string(length);
    } else if (!c.get(text)) {
      continue;
    }
    const auto range = parse_cidr(text);
    if (range) {
      out.push_back(*range);
    } else {
      c.error("\"" + text + "\" is no range of IP addresses", "such as 10.0.0.0/8");
    }
  }
  return out;
}

bool read_regex(Cursor c, std::string& pattern) {
  if (!c.is_mapping_or_error()) return false;
  Cursor regex = c.at("regex");
  if (!regex) c.missing("regex");
  regex.get(pattern);
  c.no_other_keys("RegexMatcher");
  const PatternCheck& check = c.session().check_pattern;
  if (!check || !regex) return static_cast<bool>(regex);
  const auto wrong = check(pattern);
  if (wrong) regex.error("not a regular expression (RE2): " + *wrong);
  return !wrong;
}

StringMatch read_string_match(Cursor c) {
  StringMatch out;
  if (!c.is_mapping_or_error()) return out;
  c.one_of({"exact", "prefix", "suffix", "contains", "safe_regex"}, !c.has("custom"));
  for (const PatternKey& pattern : kPatternKeys) {
    if (const Cursor text = c.at(pattern.key)) {
      out.kind = pattern.kind;
      text.get(out.text);
    }
  }
  if (const Cursor regex = c.at("safe_regex")) {
    out.kind = StringMatch::Kind::kRegex;
    read_regex(regex, out.text);
  }
  c.read("ignore_case", out.ignore_case);
  c.no_other_keys("StringMatcher");
  return out;
}

HeaderMatch read_header_match(Cursor c) {
  HeaderMatch out;
  if (!c.is_mapping_or_error()) return out;
  if (const Cursor name = c.at("name")) {
    read_header_name(name, out.name);
  } else {
    c.missing("name");
  }
  c.one_of({"string_match", "range_match", "present_match", "exact_match", "prefix_match",
            "suffix_match", "contains_match", "safe_regex_match"},
           false);
  if (const Cursor value = c.at("string_match")) out.value = read_string_match(value);
  read_range(c.object("range_match"), out);
  read_old_patterns(c, out);
  c.read("present_match", out.present);
  c.read("invert_match", out.invert);
  c.read("treat_missing_header_as_empty", out.treat_missing_as_empty);
  c.no_other_keys("HeaderMatcher");
  return out;
}

std::vector<HeaderMatch> read_header_matches(const std::vector<Cursor>& items) {
  std::vector<HeaderMatch> out;
  for (const Cursor& item : items) out.push_back(read_header_match(item));
  return out;
}

Fraction read_fraction(Cursor c, Fraction otherwise) {
  constexpr std::uint32_t kMillion = 1'000'000;
  if (!c) return otherwise;
  if (!c.is_mapping()) {
    double percent = 0;
    if (!c.get_percent(percent)) return otherwise;
    return {static_cast<std::uint32_t>(percent * (kMillion / 100) + 0.5)};
  }
  std::uint32_t numerator = 0;
  std::uint32_t denominator = 100;
  c.read("numerator", numerator);
  c.read_word<std::uint32_t>("denominator", denominator,
                             {{"HUNDRED", 100}, {"TEN_THOUSAND", 10'000}, {"MILLION", kMillion}});
  if (numerator > denominator)
    c.error("more than the whole: " + std::to_string(numerator) + " of " +
            std::to_string(denominator));
  c.no_other_keys("FractionalPercent");
  return {numerator > denominator ? kMillion : numerator * (kMillion / denominator)};
}

Fraction read_runtime_fraction(Cursor c) {
  if (!c.is_mapping() || !(c.has("default_value") || c.has("runtime_key")))
    return read_fraction(c, {});
  const Fraction out = read_fraction(c.at("default_value"), {0});
  c.no_other_keys("RuntimeFractionalPercent");
  return out;
}

bool read_header_name(const Cursor& c, std::string& out) {
  std::string name;
  if (!c.get(name)) return false;
  const bool pseudo = !name.empty() && name.front() == ':';
  if (!is_token(std::string_view(name).substr(pseudo ? 1 : 0))) {
    return c.error("\"" + name + "\" is not the name of a header"), false;
  }
  out = lower(name);
  return true;
}

std::vector<std::string> read_header_names(const std::vector<Cursor>& items) {
  std::vector<std::string> out;
  for (const Cursor& item : items) {
    std::string name;
    if (read_changed_header_name(item, name)) out.push_back(std::move(name));
  }
  return out;
}

bool read_changed_header_name(const Cursor& c, std::string& out) {
  std::string name;
  if (!read_header_name(c, name)) return false;
  if (name.front() == ':' || name == "host") {
    c.error("\"" + name + "\" cannot be changed this way",
            "prefix_rewrite and host_rewrite_literal change path and host");
    return false;
  }
  out = std::move(name);
  return true;
}

std::optional<HeaderAdd> read_header_add(Cursor c) {
  if (!c.is_mapping_or_error()) return std::nullopt;
  HeaderAdd out;
  Cursor header = c.object("header");
  if (!header) c.missing("header");
  if (const Cursor key = header.at("key")) {
    read_changed_header_name(key, out.name);
  } else if (header) {
    header.missing("key");
  }
  if (const Cursor value = header.at("value");
      value.get(out.value) && !is_header_value(out.value)) {
    value.error("a header's value holds no line breaks and no NUL");
  }
  header.no_other_keys("HeaderValue");
  using Append = HeaderAdd::Append;
  c.read_word<Append>("append_action", out.append,
                      {{"APPEND_IF_EXISTS_OR_ADD", Append::kAppendIfExistsOrAdd},
                       {"ADD_IF_ABSENT", Append::kAddIfAbsent},
                       {"OVERWRITE_IF_EXISTS_OR_ADD", Append::kOverwriteIfExistsOrAdd},
                       {"OVERWRITE_IF_EXISTS", Append::kOverwriteIfExists}});
  bool append = true;  // the older word
  c.read("append", append);
  if (!append) out.append = Append::kOverwriteIfExistsOrAdd;
  c.read("keep_empty_value", out.keep_empty_value);
  c.no_other_keys("HeaderValueOption");
  if (out.name.empty()) return std::nullopt;
  return out;
}

HeaderMutations read_header_mutations(Cursor& c) {
  HeaderMutations out;
  for (const Cursor& item : c.list("request_headers_to_add")) {
    if (auto add = read_header_add(item)) out.request_add.push_back(std::move(*add));
  }
  for (const Cursor& item : c.list("response_headers_to_add")) {
    if (auto add = read_header_add(item)) out.response_add.push_back(std::move(*add));
  }
  out.request_remove = read_header_names(c.list("request_headers_to_remove"));
  out.response_remove = read_header_names(c.list("response_headers_to_remove"));
  return out;
}

bool read_status_code(const Cursor& c, int& out) {
  return c.get(out, Range<int>{.least = 100, .most = 599});
}

std::vector<int> read_status_codes(const std::vector<Cursor>& items) {
  std::vector<int> out;
  for (const Cursor& item : items) {
    int code = 0;
    if (read_status_code(item, code)) out.push_back(code);
  }
  return out;
}

void read_filter_mode(Cursor& c, FilterMode& out) {
  c.read_word<FilterMode>("mode", out,
                          {{"enforce", FilterMode::kEnforce}, {"shadow", FilterMode::kShadow}});
}

std::string read_type(Cursor& c) {
  constexpr std::string_view kPrefix = "type.googleapis.com/";
  std::string type;
  const Cursor written = c.at("@type");
  if (!written) return c.missing("@type"), std::string();
  if (!written.get(type)) return {};
  return type.substr(0, kPrefix.size()) == kPrefix ? type.substr(kPrefix.size()) : type;
}

bool expect_type(Cursor& c, std::string_view type) {
  const std::string written = read_type(c);
  if (written == type) return true;
  if (!written.empty()) c.at("@type").expected("type.googleapis.com/" + std::string(type));
  return false;
}

}  // namespace damper::config
