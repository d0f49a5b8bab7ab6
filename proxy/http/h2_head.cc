#include "http/h2_head.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "http/h1_chars.h"
#include "http/h1_parser.h"

namespace damper::http::h2 {
namespace {

constexpr h1::Fault kHeadersTooLarge{431, "http2.headers_too_large"};
constexpr h1::Fault kTooManyHeaders{431, "http2.too_many_headers"};
constexpr h1::Fault kUnexpectedUnderscore{400, "http2.unexpected_underscore"};
constexpr h1::Fault kInvalidPath{400, "http2.invalid_path"};
constexpr h1::Fault kInvalidAuthority{400, "http2.invalid_authority"};
constexpr h1::Fault kUnknownProtocol{501, "http2.unknown_protocol"};

constexpr std::string_view kWebSocket = "websocket";

// What HTTP/1 would write as its request line must be one there.
bool is_target(std::string_view path) {
  const char* const end = path.data() + path.size();
  return h1::end_of_target(path.data(), end) == end && path.find('#') == path.npos;
}

// Measured: looking for the like of them in the table was a tenth of all instructions of a small
// request.
bool changes_each_time(HeaderId id) {
  switch (id) {
    case HeaderId::kB3:
    case HeaderId::kGrpcTimeout:
    case HeaderId::kIdempotencyKey:
    case HeaderId::kTraceparent:
    case HeaderId::kTracestate:
    case HeaderId::kXB3Traceid:
    case HeaderId::kXDamperRetry:
    case HeaderId::kXDeadline:
    case HeaderId::kXRequestDeadline:
    case HeaderId::kXRequestId: return true;
    default: return false;
  }
}

}  // namespace

bool Block::add(const H2Options& options, std::string_view name, std::string_view value) {
  constexpr std::size_t kHopeless = 4;  // times the limit
  bytes_ += name.size() + value.size();
  if (bytes_ > options.max_head_bytes) refusal_ = &kHeadersTooLarge;
  if (fields_.size() >= options.max_headers && !name.starts_with(':')) refusal_ = &kTooManyHeaders;
  if (refusal_) return bytes_ <= kHopeless * options.max_head_bytes;
  if (name.starts_with(':')) {
    add_pseudo(name, value);
  } else {
    add_field(options, name, value);
  }
  return true;
}

void Block::add_pseudo(std::string_view name, std::string_view value) {
  if (name == ":status") {
    status_ = static_cast<int>(parse_number(value).value_or(0));
    return;
  }
  std::string_view& target = name == ":method"      ? method_
                             : name == ":scheme"    ? scheme_
                             : name == ":authority" ? authority_
                             : name == ":path"      ? path_
                                                    : protocol_;
  target = fields_.arena().copy(value);
}

void Block::add_field(const H2Options& options, std::string_view name, std::string_view value) {
  const HeaderId id = header_id(name);
  switch (id) {
    case HeaderId::kContentLength: content_length_ = parse_number(value); return;
    case HeaderId::kHost: host_ = fields_.arena().copy(value); return;
    case HeaderId::kExpect:
      if (!equals_ignoring_case(value, "100-continue")) break;
      expects_continue_ = true;
      if (options.proxy_100_continue) break;
      return;
    case HeaderId::kHttp2Settings:
    case HeaderId::kTrailer: return;
    case HeaderId::kCookie: ++cookies_; break;
    default: break;
  }
  if (options.headers_with_underscores != Underscores::kAllow &&
      name.find('_') != std::string_view::npos) {
    if (options.headers_with_underscores == Underscores::kRejectRequest)
      refusal_ = &kUnexpectedUnderscore;
    return;
  }
  if (id == HeaderId::kOther) return fields_.add(name, value);
  fields_.add(id, value);
}

// RFC 9113 §8.2.3: crumbs were good for compression only, and nobody else may see them.
void Block::join_cookies() {
  if (cookies_ < 2) return;
  std::string joined;
  for (const Field& f : fields_) {
    if (f.id != HeaderId::kCookie) continue;
    if (!joined.empty()) joined += "; ";
    joined += f.value;
  }
  fields_.set(HeaderId::kCookie, joined);
}

std::variant<RequestHead, const Block::Refusal*> Block::to_request() {
  if (refusal_) return refusal_;
  join_cookies();
  RequestHead head;
  head.protocol = Protocol::kHttp2;
  const bool connect = method_ == "CONNECT";
  const bool extended = connect && !protocol_.empty();  // RFC 8441
  if (extended && !equals_ignoring_case(protocol_, kWebSocket)) return &kUnknownProtocol;
  if (!connect || extended) {
    const bool star = path_ == "*" && method_ == "OPTIONS";
    if (!star && !path_.starts_with('/')) return &kInvalidPath;
    if (!is_target(path_)) return &kInvalidPath;
  }
  // RFC 9113 §8.3.1: they may not disagree; without the one the other holds.
  if (!authority_.empty() && !host_.empty() && !equals_ignoring_case(authority_, host_))
    return &kInvalidAuthority;
  head.authority = authority_.empty() ? host_ : authority_;
  if (!h1::valid_authority(head.authority)) return &kInvalidAuthority;
  head.method = extended ? "GET" : method_;
  if (extended) head.upgrade = kWebSocket;
  if (!scheme_.empty()) head.scheme = scheme_;
  head.path = path_;
  head.content_length = content_length_;
  head.expect_continue = expects_continue_;
  head.fields = std::move(fields_);
  return head;
}

ResponseHead Block::to_response(std::string_view upgrade) {
  ResponseHead head;
  head.protocol = Protocol::kHttp2;
  head.status = status_;
  if (status_ / 100 == 2 && !upgrade.empty()) {
    head.status = 101;  // what HTTP/1 calls a stream that has become a tunnel
    head.upgrade = upgrade;
  }
  if (head.status != 204 && head.status >= 200) head.content_length = content_length_;
  head.fields = std::move(fields_);
  return head;
}

Fields Block::to_trailers() {
  fields_.remove_if([](const Field& f) { return !h1::allowed_in_trailers(f); });
  return std::move(fields_);
}

bool IndexedNames::wants(HeaderId id) {
  if (!changes_each_time(id)) return true;
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(id);
  const bool first = (seen_ & bit) == 0;
  seen_ |= bit;
  return first;
}

void NameValues::reserve(std::size_t n) {
  if (n > kFew) many_.resize(n);
}

void NameValues::add(std::string_view name, std::string_view value, std::uint8_t flags) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  nghttp2_nv* const list = many_.empty() ? few_ : many_.data();
  list[size_++] = {bytes(name), bytes(value), name.size(), value.size(), flags};
}

void NameValues::add_constant(std::string_view name, std::string_view value) {
  add(name, value, NGHTTP2_NV_FLAG_NO_COPY_NAME);
}

void NameValues::add_field(const Field& f, IndexedNames& indexed) {
  const bool known = f.id != HeaderId::kOther;
  const unsigned copy = known ? NGHTTP2_NV_FLAG_NO_COPY_NAME : NGHTTP2_NV_FLAG_NONE;
  const unsigned index = indexed.wants(f.id) ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX;
  add(known ? header_name(f.id) : f.name, f.value, static_cast<std::uint8_t>(copy | index));
}

void NameValues::add_fields(const Fields& fields, IndexedNames& indexed) {
  for (const Field& f : fields) add_field(f, indexed);
}

void NameValues::add_number(std::string_view name, std::uint64_t number, char (&digits)[kDigits]) {
  const char* const end = std::to_chars(digits, digits + kDigits, number).ptr;
  add_constant(name, {digits, static_cast<std::size_t>(end - digits)});
}

NameValues::NameValues(const RequestHead& head, IndexedNames& indexed) {
  reserve(head.fields.size() + kPseudo);
  const bool extended = !head.upgrade.empty();
  add_constant(":method", extended ? "CONNECT" : head.method);
  if (extended) add_constant(":protocol", head.upgrade);
  add_constant(":scheme", head.scheme);
  add_constant(":authority", head.authority);
  add_constant(":path", head.path);
  add_fields(head.fields, indexed);
  if (head.content_length) add_number("content-length", *head.content_length, length_);
}

NameValues::NameValues(const ResponseHead& head, IndexedNames& indexed) {
  reserve(head.fields.size() + kPseudo);
  const bool tunnel = head.status == 101;
  add_number(":status", static_cast<std::uint64_t>(tunnel ? 200 : head.status), status_);
  add_fields(head.fields, indexed);
  if (head.content_length && head.status >= 200 && head.status != 204)
    add_number("content-length", *head.content_length, length_);
}

NameValues::NameValues(const Fields& trailers, IndexedNames& indexed) {
  reserve(trailers.size());
  for (const Field& f : trailers) {
    if (h1::allowed_in_trailers(f)) add_field(f, indexed);
  }
}

StoredTrailers::StoredTrailers(const Fields& trailers, IndexedNames& indexed) {
  const NameValues block(trailers, indexed);
  fields_.assign(block.begin(), block.begin() + block.size());
  text_.reserve(trailers.bytes());  // it must not move
  const auto keep = [this](std::uint8_t*& bytes, std::size_t n) {
    const std::size_t at = text_.size();
    text_.append(reinterpret_cast<const char*>(bytes), n);
    bytes = reinterpret_cast<std::uint8_t*>(text_.data() + at);
  };
  for (nghttp2_nv& field : fields_) {
    if ((field.flags & NGHTTP2_NV_FLAG_NO_COPY_NAME) == 0) keep(field.name, field.namelen);
    keep(field.value, field.valuelen);
  }
}

}  // namespace damper::http::h2
