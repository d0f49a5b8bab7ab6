#include "http/h1_writer.h"

#include <charconv>

namespace damper::http::h1 {
namespace {

constexpr std::size_t kPerField = 4;  // ": " and CRLF
constexpr std::size_t kOwnText =
    256;  // status or request line without its texts, framing and connection fields
constexpr std::size_t kMaxDigits = 20;

std::size_t upper_bound(const Fields& fields) {
  std::size_t n = kOwnText;
  for (const Field& f : fields) n += f.name.size() + f.value.size() + kPerField;
  return n;
}

// Writes into room reserved once for the whole head.
class HeadWriter {
 public:
  HeadWriter(Buffer& out, std::size_t at_most)
      : out_(out), begin_(out.reserve(at_most)), at_(begin_) {}
  ~HeadWriter() { out_.commit(static_cast<std::size_t>(at_ - begin_)); }
  HeadWriter(const HeadWriter&) = delete;
  HeadWriter& operator=(const HeadWriter&) = delete;

  void text(std::string_view text) { at_ += text.copy(at_, text.size()); }
  void number(std::uint64_t n) { at_ = std::to_chars(at_, at_ + kMaxDigits, n).ptr; }
  void field(std::string_view name, std::string_view value) {
    text(name);
    text(": ");
    text(value);
    text("\r\n");
  }
  void framing(const Delivery& delivery) {
    if (delivery.content_length) {
      text("content-length: ");
      number(*delivery.content_length);
      text("\r\n");
    } else if (delivery.framing == Framing::kChunked) {
      text("transfer-encoding: chunked\r\n");
    }
  }

 private:
  Buffer& out_;
  char* const begin_;
  char* at_;
};

void write_connection(HeadWriter& out, std::string_view upgrade, bool te) {
  if (upgrade.empty() && !te) return;
  out.text(upgrade.empty() ? "connection: te\r\n"
           : te            ? "connection: upgrade, te\r\n"
                           : "connection: upgrade\r\n");
  if (!upgrade.empty()) out.field("upgrade", upgrade);
  if (te) out.text("te: trailers\r\n");
}

// Methods whose requests are expected to have content: an empty one is said to be empty (RFC 9110
// §8.6).
bool expects_content(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "PATCH";
}

}  // namespace

Delivery request_delivery(const RequestHead& head, bool end) {
  if (head.content_length)
    return {.framing = Framing::kLength, .content_length = head.content_length};
  if (!end) return {.framing = Framing::kChunked, .content_length = {}};
  if (expects_content(head.method)) return {.framing = Framing::kLength, .content_length = 0};
  return {};
}

void leave_room_for_trailers(Delivery& delivery) {
  if (delivery.framing == Framing::kLength)
    delivery = {.framing = Framing::kChunked, .content_length = {}};
}

Delivery response_delivery(const ResponseHead& head, bool end, bool to_head, bool to_http10) {
  if (head.status < 200 || head.status == 204) return {};
  if (to_head || head.status == 304)
    return {.framing = Framing::kNone, .content_length = head.content_length};
  if (head.content_length)
    return {.framing = Framing::kLength, .content_length = head.content_length};
  if (end) return {.framing = Framing::kLength, .content_length = 0};
  return {.framing = to_http10 ? Framing::kUntilClose : Framing::kChunked, .content_length = {}};
}

void write_request_head(const RequestHead& head, const Delivery& delivery, bool te, Buffer& out) {
  const std::size_t texts =
      head.method.size() + head.path.size() + head.authority.size() + head.upgrade.size();
  HeadWriter w(out, upper_bound(head.fields) + texts);
  w.text(head.method);
  w.text(" ");
  w.text(head.path);
  w.text(" HTTP/1.1\r\n");
  w.field("host", head.authority);
  bool wants_trailers = false;
  for (const Field& f : head.fields) {
    if (f.id == HeaderId::kTe) {
      wants_trailers = true;
    } else {
      w.field(f.name, f.value);
    }
  }
  write_connection(w, head.upgrade, te && wants_trailers);
  w.framing(delivery);
  w.text("\r\n");
}

void write_response_head(const ResponseHead& head, const Delivery& delivery, bool close,
                         Buffer& out) {
  const std::string_view reason = reason_phrase(head.status);
  HeadWriter w(out, upper_bound(head.fields) + reason.size() + head.upgrade.size());
  w.text("HTTP/1.1 ");
  w.number(static_cast<std::uint64_t>(head.status));
  w.text(" ");
  w.text(reason);
  w.text("\r\n");
  for (const Field& f : head.fields) w.field(f.name, f.value);
  if (head.status == 101) {
    write_connection(w, head.upgrade, false);
  } else {
    w.framing(delivery);
    if (close) w.text("connection: close\r\n");
  }
  w.text("\r\n");
}

void write_trailer_fields(const Fields& trailers, Buffer& out) {
  HeadWriter w(out, upper_bound(trailers));
  for (const Field& f : trailers) {
    if (allowed_in_trailers(f)) w.field(f.name, f.value);
  }
}

}  // namespace damper::http::h1
