// Bodies on the wire of HTTP/1 (RFC 9112 §6.3, §7): what a head announced is cut out of, or put
// into, a stream of bytes. Large runs are moved, not copied.
#pragma once
#include <cstdint>

#include "base/buffer.h"
#include "http/fields.h"
#include "http/h1_lines.h"
#include "http/h1_parser.h"

namespace damper::http::h1 {

class BodyReader {
 public:
  // The reader of heads is lent for the trailers: a connection is never in both.
  explicit BodyReader(LineReader& lines) : lines_(lines) {}

  void begin(Framing framing, std::uint64_t length);
  bool ends_at_eof() const { return framing_ == Framing::kUntilClose; }

  // Moves what belongs to the body from `in` to `body`. kDone: it has ended, and `trailers` holds
  // what came behind it. kBad: the bytes in `body` are good, what comes next is not.
  Step read(Buffer& in, Buffer& body, Fields& trailers);
  const Fault& fault() const { return lines_faulty_ ? lines_.fault() : kCodecError; }

 private:
  // The parts of a chunk, in order (RFC 9112 §7.1).
  enum class Part : std::uint8_t {
    kSize,
    kMoreSize,
    kBlanks,
    kExtensionName,
    kExtension,
    kQuoted,
    kQuotedPair,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailers,
  };

  Step read_length(Buffer& in, Buffer& body);
  Step read_chunked(Buffer& in, Buffer& body, Fields& trailers);
  Step read_trailers(Buffer& in, Fields& trailers);
  bool read_line(Buffer& in);
  bool take(char c);
  bool take_size(char c);
  bool take_extension(char c);
  bool begin_chunk();

  LineReader& lines_;
  Framing framing_ = Framing::kNone;
  Part part_ = Part::kSize;
  bool lines_faulty_ = false;
  std::uint16_t line_bytes_ = 0;  // of the size line
  std::uint64_t left_ = 0;        // of the body or of the chunk
};

class BodyWriter {
 public:
  void begin(Framing framing, std::uint64_t length);

  // Takes all of `body`. A body that is longer than announced is cut to its length.
  void write(Buffer& body, bool end, Buffer& out);
  // Ends the body; the trailers are written only if its framing has room for them and `enabled`.
  void write_trailers(const Fields& trailers, bool enabled, Buffer& out);
  // Bytes are missing of what was announced: if the body ends here, so must the connection.
  bool incomplete() const { return framing_ == Framing::kLength && left_ > 0; }
  bool ends_with_connection() const { return framing_ == Framing::kUntilClose; }

 private:
  void write_chunk(Buffer& body, bool end, Buffer& out);

  Framing framing_ = Framing::kNone;
  std::uint64_t left_ = 0;
};

}  // namespace damper::http::h1
