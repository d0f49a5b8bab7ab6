#include "http/h1_parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "http/h1_chars.h"

namespace damper::http::h1 {
namespace {

// RFC 9110 §8.6: digits only. Nineteen of them hold every length that fits a signed 64-bit number.
std::optional<std::uint64_t> parse_length(std::string_view text) {
  constexpr std::size_t kMaxDigits = 19;
  if (text.size() > kMaxDigits) return std::nullopt;
  const auto length = parse_number(text);
  return length && *length <= INT64_MAX ? length : std::nullopt;
}

// Calls `f` with each element of a comma list (RFC 9110 §5.6.1), without the blanks around it;
// empty ones too.
template <class F>
void for_each_element(std::string_view list, F f) {
  for (;;) {
    const std::size_t end = std::min(list.find(','), list.size());
    f(trim(list.substr(0, end)));
    if (end == list.size()) return;
    list.remove_prefix(end + 1);
  }
}

// What is wrong with a transfer-encoding other than "chunked". 501 is for codings that we don't
// know in a list that could be right; all else leaves the length of the body in doubt.
const Fault* coding_fault(std::string_view codings) {
  bool doubtful = false;
  bool chunked = false;
  for_each_element(codings, [&](std::string_view coding) {
    doubtful = doubtful || chunked || !is_token(coding);
    chunked = equals_ignoring_case(coding, "chunked");
  });
  return doubtful ? &kInvalidTransferEncoding : &kUnknownTransferEncoding;
}

bool valid_port(std::string_view port) {
  const auto number = parse_number(port);
  return port.empty() || (number && *number <= 65535);
}

bool is_address_char(char c) {
  return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f') || c == ':' || c == '.';
}

// Length of the IP literal (RFC 3986 §3.2.2: "[…]") that the text begins with; 0 if it is none.
std::size_t ip_literal_size(std::string_view text) {
  constexpr std::size_t kShortest = 4;  // "[::]"
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos || end + 1 < kShortest) return 0;
  return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(end),
                     is_address_char)
             ? end + 1
             : 0;
}

std::size_t host_size(std::string_view text) {
  if (text.starts_with('[')) return ip_literal_size(text);
  const auto end =
      std::find_if_not(text.begin(), text.end(), [](char c) { return is_in(kHostChars, c); });
  return static_cast<std::size_t>(end - text.begin());
}

// Fields that a peer cannot have removed by naming them in Connection: who asks, and on whose
// behalf.
bool is_protected(const Field& field) {
  switch (field.id) {
    case HeaderId::kTe:
    case HeaderId::kCookie:
    case HeaderId::kXRequestId: return true;
    default:
      return field.name == "authorization" || field.name.starts_with("x-forwarded-") ||
             field.name.starts_with("x-envoy-");
  }
}

// Sorts the lines of a head: framing and hop-by-hop fields into members, the rest into `fields`.
class FieldSorter {
 public:
  FieldSorter(const LineReader& reader, Fields& fields) : reader_(reader), fields_(fields) {}

  // `own` is asked first about each field; it returns true if it took or refused it.
  template <class Own>
  const Fault* sort(Own own) {
    constexpr std::size_t kAdded = 8;  // what the proxy will add: no second allocation then
    fields_.reserve(reader_.lines().size() + kAdded);
    for (const LineReader::Line& line : reader_.lines()) {
      const Field field = lower_case(line);
      if (!own(field)) take(field);
      if (fault_ != nullptr) return fault_;
    }
    if (nominates_) remove_nominated();
    return framing_fault();
  }
  void refuse(const Fault& fault) { fault_ = &fault; }
  void keep(const Field& field) { fields_.add_view(field); }

  Framing framing() const {
    if (chunked_) return Framing::kChunked;
    return content_length_.value_or(0) > 0 ? Framing::kLength : Framing::kNone;
  }
  std::optional<std::uint64_t> content_length() const { return content_length_; }
  bool chunked() const { return chunked_; }
  bool closes() const { return close_ || (reader_.minor_version() == 0 && !keep_alive_); }
  // What an upgrade is asked or granted to; empty unless Connection names the field (RFC 9110
  // §7.8).
  std::string_view upgrade() const { return nominates_upgrade_ ? upgrade_ : std::string_view(); }

 private:
  Field lower_case(const LineReader::Line& line) const {
    char* const name = reader_.text() + line.name.at;
    std::transform(name, name + line.name.size, name, to_lower);
    const std::string_view view(name, line.name.size);
    return {.name = view, .value = reader_.view(line.value), .id = header_id(view)};
  }

  void take(const Field& field) {
    switch (field.id) {
      case HeaderId::kConnection: return read_options(field.value);
      case HeaderId::kContentLength: return read_length(field.value);
      case HeaderId::kTransferEncoding: return read_codings(field.value);
      case HeaderId::kUpgrade: upgrade_ = field.value; return;
      case HeaderId::kKeepAlive:
      case HeaderId::kProxyConnection:
      case HeaderId::kTe:
      case HeaderId::kTrailer: return;
      default: return keep(field);
    }
  }

  void read_options(std::string_view options) {
    for_each_element(options, [this](std::string_view option) {
      if (equals_ignoring_case(option, "close")) {
        close_ = true;
      } else if (equals_ignoring_case(option, "keep-alive")) {
        keep_alive_ = true;
      } else if (equals_ignoring_case(option, "upgrade")) {
        nominates_upgrade_ = true;
      } else if (!equals_ignoring_case(option, "te")) {
        nominates_ = true;
      }
    });
  }

  void read_length(std::string_view text) {
    const auto length = parse_length(text);
    if (!length || content_length_) return refuse(kInvalidContentLength);
    content_length_ = length;
  }

  void read_codings(std::string_view text) {
    if (chunked_) return refuse(kInvalidTransferEncoding);
    if (!equals_ignoring_case(text, "chunked")) {
      fault_ = coding_fault(text);
      return;
    }
    chunked_ = true;
  }

  const Fault* framing_fault() const {
    if (chunked_ && content_length_) return &kLengthAndChunked;
    if (chunked_ && reader_.minor_version() == 0) return &kInvalidTransferEncoding;
    return nullptr;
  }

  void remove_nominated() {
    std::vector<std::string> names;
    for (const LineReader::Line& line : reader_.lines()) {
      if (reader_.view(line.name) != header_name(HeaderId::kConnection)) continue;
      for_each_element(reader_.view(line.value),
                       [&](std::string_view option) { names.push_back(lower(option)); });
    }
    fields_.remove_if([&](const Field& field) {
      return !is_protected(field) &&
             std::find(names.begin(), names.end(), field.name) != names.end();
    });
  }

  const LineReader& reader_;
  Fields& fields_;
  const Fault* fault_ = nullptr;
  std::optional<std::uint64_t> content_length_;
  std::string_view upgrade_;
  bool chunked_ = false;
  bool close_ = false;
  bool keep_alive_ = false;
  bool nominates_upgrade_ = false;
  bool nominates_ = false;
};

class RequestParser {
 public:
  RequestParser(const LineReader& reader, const H1ServerOptions& options, RequestHead& head)
      : reader_(reader), options_(options), head_(head), sorter_(reader, head.fields) {}

  const Fault* parse(Traits& traits) {
    head_.method = reader_.view(reader_.method());
    head_.protocol = is_http10() ? Protocol::kHttp10 : Protocol::kHttp11;
    if (is_http10() && !options_.accept_http_10) return &kUpgradeRequired;
    if (const Fault* fault = sorter_.sort([this](const Field& field) { return take(field); }))
      return fault;
    if (const Fault* fault = parse_target(reader_.view(reader_.target()))) return fault;
    if (const Fault* fault = decide_authority()) return fault;
    head_.content_length = sorter_.content_length();
    traits.framing = sorter_.framing();
    traits.close = sorter_.closes();
    // Without a body there is nothing to continue with, and HTTP/1.0 knows no 100 (RFC 9110
    // §10.1.1).
    head_.expect_continue = expects_continue_ && !is_http10() && traits.framing != Framing::kNone;
    if (!is_http10() && equals_ignoring_case(sorter_.upgrade(), kWebSocket))
      head_.upgrade = kWebSocket;
    return nullptr;
  }

 private:
  static constexpr std::string_view kWebSocket = "websocket";

  bool is_http10() const { return reader_.minor_version() == 0; }

  bool take(const Field& field) {
    switch (field.id) {
      case HeaderId::kHost: return take_host(field.value);
      case HeaderId::kTe: return take_te(field);
      case HeaderId::kExpect: return take_expect(field);
      case HeaderId::kHttp2Settings:
        return true;  // goes with an upgrade to h2c, which we never pass on
      default: return take_underscore(field);
    }
  }

  bool take_host(std::string_view host) {
    if (!host_.empty() || !valid_authority(host)) sorter_.refuse(kInvalidHost);
    host_ = host;
    return true;
  }

  // Only its member "trailers" means anything beyond this connection (gRPC looks for it).
  bool take_te(const Field& field) {
    for_each_element(field.value, [this](std::string_view coding) {
      if (!equals_ignoring_case(coding, "trailers") || head_.fields.has(HeaderId::kTe)) return;
      sorter_.keep({.name = header_name(HeaderId::kTe), .value = "trailers", .id = HeaderId::kTe});
    });
    return true;
  }

  bool take_expect(const Field& field) {
    if (!equals_ignoring_case(field.value, "100-continue")) return false;
    expects_continue_ = true;
    return is_http10() || !options_.proxy_100_continue;
  }

  bool take_underscore(const Field& field) {
    if (options_.headers_with_underscores == Underscores::kAllow) return false;
    if (field.name.find('_') == std::string_view::npos) return false;
    if (options_.headers_with_underscores == Underscores::kRejectRequest)
      sorter_.refuse(kUnexpectedUnderscore);
    return true;
  }

  // RFC 9112 §3.2. A fragment is never sent; neither is one of the other forms with a method it is
  // not for.
  const Fault* parse_target(std::string_view target) {
    if (target.find('#') != std::string_view::npos) return &kInvalidUrl;
    if (head_.method == "CONNECT") return parse_authority_form(target);
    head_.path = target;
    if (target.front() == '/') return nullptr;
    if (target == "*") return head_.method == "OPTIONS" ? nullptr : &kInvalidUrl;
    for (const std::string_view scheme : {std::string_view("http"), std::string_view("https")}) {
      const std::size_t size = scheme.size() + 3;
      if (!starts_with_ignoring_case(target, scheme) || target.substr(scheme.size(), 3) != "://")
        continue;
      head_.scheme = scheme;
      return options_.allow_absolute_url ? parse_absolute_form(target.substr(size)) : &kInvalidUrl;
    }
    return &kInvalidUrl;
  }

  const Fault* parse_authority_form(std::string_view target) {
    const bool has_port = target.substr(host_size(target)).size() > 1;
    if (!has_port || !valid_authority(target)) return &kInvalidUrl;
    head_.authority = target;
    return nullptr;
  }

  const Fault* parse_absolute_form(std::string_view rest) {
    const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
    head_.authority = rest.substr(0, end);
    if (!valid_authority(head_.authority)) return &kInvalidUrl;
    const std::string_view path = rest.substr(end);
    if (path.empty()) {
      head_.path = head_.method == "OPTIONS" ? "*" : "/";
    } else if (path.front() == '?') {
      head_.set_path(std::string("/").append(path));
    } else {
      head_.path = path;
    }
    return nullptr;
  }

  // The authority of the target holds over Host, which HTTP/1.1 wants all the same (RFC 9112
  // §3.2.2).
  const Fault* decide_authority() {
    if (host_.empty() && !is_http10()) return &kMissingHost;
    if (!head_.authority.empty()) return nullptr;
    head_.authority = host_;
    if (host_.empty()) head_.set_authority(options_.default_host_for_http_10);
    return head_.authority.empty() ? &kMissingHost : nullptr;
  }

  const LineReader& reader_;
  const H1ServerOptions& options_;
  RequestHead& head_;
  FieldSorter sorter_;
  std::string_view host_;
  bool expects_continue_ = false;
};

bool is_interim(int status) { return status < 200; }

// RFC 9112 §6.3: what never has a body, whatever its fields say.
bool never_has_body(int status, bool to_head) {
  return to_head || is_interim(status) || status == 204 || status == 304;
}

Framing response_framing(const FieldSorter& sorter, int status, bool to_head) {
  if (never_has_body(status, to_head)) return Framing::kNone;
  return sorter.chunked() || sorter.content_length() ? sorter.framing() : Framing::kUntilClose;
}

}  // namespace

bool valid_authority(std::string_view text) {
  const std::size_t host = host_size(text);
  if (host == 0) return false;
  return host == text.size() || (text[host] == ':' && valid_port(text.substr(host + 1)));
}

const Fault* parse_request(const LineReader& reader, const H1ServerOptions& options,
                           RequestHead& head, Traits& traits) {
  return RequestParser(reader, options, head).parse(traits);
}

const Fault* parse_response(const LineReader& reader, bool to_head, ResponseHead& head,
                            Traits& traits) {
  FieldSorter sorter(reader, head.fields);
  head.status = reader.status();
  head.protocol = reader.minor_version() == 0 ? Protocol::kHttp10 : Protocol::kHttp11;
  if (const Fault* fault = sorter.sort([](const Field&) { return false; })) return fault;
  const bool framed = sorter.chunked() || sorter.content_length();
  if (is_interim(head.status) && framed) return &kBodyDisallowed;
  if (head.status == 101) head.upgrade = sorter.upgrade();
  if (head.status != 204) head.content_length = sorter.content_length();
  traits.framing = response_framing(sorter, head.status, to_head);
  traits.close = sorter.closes();
  return nullptr;
}

void parse_trailers(const LineReader& reader, Fields& trailers) {
  FieldSorter(reader, trailers).sort([](const Field& field) {
    return !allowed_in_trailers(field);
  });
}

bool allowed_in_trailers(const Field& field) {
  static constexpr auto kForbidden = std::to_array<std::string_view>({"age",
                                                                      "authorization",
                                                                      "cache-control",
                                                                      "connection",
                                                                      "content-encoding",
                                                                      "content-length",
                                                                      "content-range",
                                                                      "content-type",
                                                                      "cookie",
                                                                      "date",
                                                                      "expect",
                                                                      "expires",
                                                                      "host",
                                                                      "http2-settings",
                                                                      "keep-alive",
                                                                      "location",
                                                                      "max-forwards",
                                                                      "pragma",
                                                                      "proxy-authenticate",
                                                                      "proxy-authorization",
                                                                      "proxy-connection",
                                                                      "range",
                                                                      "retry-after",
                                                                      "set-cookie",
                                                                      "te",
                                                                      "trailer",
                                                                      "transfer-encoding",
                                                                      "upgrade",
                                                                      "vary",
                                                                      "warning",
                                                                      "www-authenticate"});
  if (field.id == HeaderId::kGrpcStatus || field.id == HeaderId::kGrpcMessage) return true;
  if (field.name.starts_with("if-")) return false;
  return !std::binary_search(kForbidden.begin(), kForbidden.end(), field.name);
}

}  // namespace damper::http::h1
