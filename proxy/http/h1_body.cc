#include "http/h1_body.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "http/h1_chars.h"
#include "http/h1_writer.h"

namespace damper::http::h1 {
namespace {

constexpr std::uint16_t kMaxSizeDigits = 16;
constexpr std::uint16_t kMaxSizeLineBytes = kMaxSizeDigits + 256;  // with its extensions
constexpr SectionLimits kTrailerLimits{.max_bytes = 8 * 1024, .max_fields = 100};

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

}  // namespace

void BodyReader::begin(Framing framing, std::uint64_t length) {
  framing_ = framing;
  part_ = Part::kSize;
  lines_faulty_ = false;
  line_bytes_ = 0;
  left_ = length;
}

Step BodyReader::read(Buffer& in, Buffer& body, Fields& trailers) {
  switch (framing_) {
    case Framing::kNone: return Step::kDone;
    case Framing::kLength: return read_length(in, body);
    case Framing::kChunked: return read_chunked(in, body, trailers);
    case Framing::kUntilClose: body.take_from(in, in.size()); return Step::kMore;
  }
  return Step::kBad;
}

Step BodyReader::read_length(Buffer& in, Buffer& body) {
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size()));
  body.take_from(in, n);
  left_ -= n;
  return left_ == 0 ? Step::kDone : Step::kMore;
}

Step BodyReader::read_chunked(Buffer& in, Buffer& body, Fields& trailers) {
  while (!in.empty()) {
    if (part_ == Part::kTrailers) return read_trailers(in, trailers);
    if (part_ != Part::kData) {
      if (!read_line(in)) return Step::kBad;
    } else if (read_length(in, body) == Step::kDone) {
      part_ = Part::kDataCr;
    }
  }
  return Step::kMore;
}

Step BodyReader::read_trailers(Buffer& in, Fields& trailers) {
  const Step step = lines_.read(in, trailers.arena());
  lines_faulty_ = step == Step::kBad;
  if (step == Step::kDone) parse_trailers(lines_, trailers);
  return step;
}

// Takes bytes up to the next data or the trailers. False: a byte is not what must come there.
bool BodyReader::read_line(Buffer& in) {
  const std::string_view run = in.front();
  std::size_t n = 0;
  bool good = true;
  while (good && n < run.size() && part_ != Part::kData && part_ != Part::kTrailers)
    good = take(run[n++]);
  in.drain(n);
  return good;
}

bool BodyReader::take(char c) {
  switch (part_) {
    case Part::kSize:
    case Part::kMoreSize: return take_size(c);
    case Part::kBlanks:
    case Part::kExtensionName:
    case Part::kExtension:
    case Part::kQuoted:
    case Part::kQuotedPair: return ++line_bytes_ <= kMaxSizeLineBytes && take_extension(c);
    case Part::kSizeLf: return c == '\n' && begin_chunk();
    case Part::kDataCr: part_ = Part::kDataLf; return c == '\r';
    case Part::kDataLf: part_ = Part::kSize; return c == '\n';
    case Part::kData:
    case Part::kTrailers: break;
  }
  return false;
}

bool BodyReader::take_size(char c) {
  if (const int digit = hex_digit(c); digit >= 0) {
    constexpr int kTopBits = 59;  // what four more bits would push out of a signed 64-bit number
    if (++line_bytes_ > kMaxSizeDigits || left_ >> kTopBits != 0) return false;
    left_ = left_ << 4 | static_cast<std::uint64_t>(digit);
    part_ = Part::kMoreSize;
    return true;
  }
  if (part_ == Part::kSize) return false;
  part_ = c == '\r' ? Part::kSizeLf : Part::kBlanks;
  return c == '\r' || take_extension(c);
}

// chunk-ext = *( BWS ";" BWS name [ BWS "=" BWS value ] ). Its meaning is dropped; what matters is
// that a line end hides neither in a quoted value nor behind a semicolon, where others have read it
// differently.
bool BodyReader::take_extension(char c) {
  if (is_control(c) && c != '\r') return false;
  const bool blank = c == ' ' || c == '\t';
  switch (part_) {
    case Part::kBlanks:
      if (c == ';') part_ = Part::kExtensionName;
      return blank || c == ';';
    case Part::kExtensionName:
      if (blank) return true;
      part_ = Part::kExtension;
      return is_token_char(c);
    case Part::kExtension:
      if (c == ';') part_ = Part::kExtensionName;
      if (c == '"') part_ = Part::kQuoted;
      if (c == '\r') part_ = Part::kSizeLf;
      return true;
    case Part::kQuoted:
      if (c == '"') part_ = Part::kExtension;
      if (c == '\\') part_ = Part::kQuotedPair;
      return c != '\r';
    default: part_ = Part::kQuoted; return c != '\r';
  }
}

bool BodyReader::begin_chunk() {
  line_bytes_ = 0;
  part_ = left_ > 0 ? Part::kData : Part::kTrailers;
  if (part_ == Part::kTrailers) lines_.begin(Section::kTrailers, kTrailerLimits);
  return true;
}

void BodyWriter::begin(Framing framing, std::uint64_t length) {
  framing_ = framing;
  left_ = length;
}

void BodyWriter::write(Buffer& body, bool end, Buffer& out) {
  switch (framing_) {
    case Framing::kNone: break;
    case Framing::kLength: {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, body.size()));
      out.move_from(body, n);
      left_ -= n;
      break;
    }
    case Framing::kChunked: write_chunk(body, end, out); break;
    case Framing::kUntilClose: out.append(std::move(body)); break;
  }
  body.clear();
}

// An empty chunk would end the body, so none is written before its end.
void BodyWriter::write_chunk(Buffer& body, bool end, Buffer& out) {
  constexpr std::string_view kLastChunk = "\r\n0\r\n\r\n";
  if (body.empty()) {
    if (end) out.append(kLastChunk.substr(2));
    return;
  }
  char line[sizeof(std::size_t) * 2 + 2];
  char* const size_end = std::to_chars(line, line + sizeof line, body.size(), 16).ptr;
  size_end[0] = '\r';
  size_end[1] = '\n';
  out.append(std::string_view(line, static_cast<std::size_t>(size_end + 2 - line)));
  out.append(std::move(body));
  out.append(end ? kLastChunk : kLastChunk.substr(0, 2));
}

void BodyWriter::write_trailers(const Fields& trailers, bool enabled, Buffer& out) {
  if (framing_ != Framing::kChunked) return;
  out.append("0\r\n");
  if (enabled) write_trailer_fields(trailers, out);
  out.append("\r\n");
}

}  // namespace damper::http::h1
