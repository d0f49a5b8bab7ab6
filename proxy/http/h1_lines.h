// The lexical half of the HTTP/1 parser (RFC 9112 §2.2, §3, §4, §5): finds the start line and the
// field lines of a section in a stream of bytes, however they are cut, and refuses every byte that
// has no business there.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "http/fields.h"
#include "http/h1_options.h"

namespace damper::http::h1 {

enum class Section : std::uint8_t { kRequest, kResponse, kTrailers };
enum class Step : std::uint8_t { kMore, kDone, kBad };

struct SectionLimits {
  std::size_t max_bytes;
  std::size_t max_fields;
};

// Reads one section at a time. What it says of an input does not depend on how the input was cut: a
// faulty line is refused when its end has come. Cost is linear in the bytes, also when they drip.
class LineReader {
 public:
  // Where something stands in text(). Offsets, because the bytes move once.
  struct Span {
    std::uint32_t at = 0;
    std::uint32_t size = 0;
  };
  struct Line {
    Span name;
    Span value;  // without the blanks around it
  };

  void begin(Section section, SectionLimits limits);

  // Takes bytes from `in`. kDone: the section, and not a byte more, was taken and copied into
  // `arena`.
  Step read(Buffer& in, Arena& arena);
  bool started() const { return held_.size() > first_; }  // within a section
  const Fault& fault() const { return *fault_; }          // after kBad

  // After kDone, until the next begin().
  char* text() const { return text_; }  // in the arena; free to be changed
  std::string_view view(Span span) const { return {text_ + span.at, span.size}; }
  const std::vector<Line>& lines() const { return lines_; }
  Span method() const { return method_; }
  Span target() const { return target_; }
  int status() const { return status_; }
  int minor_version() const { return minor_version_; }  // of HTTP/1

 private:
  Step scan(std::string_view bytes);
  Step stuck(const char* line, const char* end);
  bool may_begin(char first) const;

  // Each returns the byte behind what it read; null if the line is faulty or not all there.
  const char* line(const char* at, const char* end);
  const char* start_line(const char* at, const char* end);
  const char* request_line(const char* at, const char* end);
  const char* request_version(const char* at, const char* end);
  const char* status_line(const char* at, const char* end);
  const char* field_line(const char* at, const char* end);
  const char* line_end(const char* at, const char* end, const Fault& otherwise);
  const char* refuse(const Fault& fault);
  Span span(const char* from, const char* to) const;

  Section section_ = Section::kRequest;
  SectionLimits limits_{};
  bool in_start_line_ = true;
  bool hopeless_ =
      false;  // no message begins like that (a TLS handshake): its line's end need not be awaited
  bool complete_ = false;
  const Fault* fault_ = nullptr;
  const char* base_ = nullptr;  // of the bytes that scan() looks at
  std::size_t first_ = 0;   // where the section begins: behind an empty line, if one was skipped
  std::size_t at_ = 0;      // where the next line begins
  std::size_t looked_ = 0;  // there is no line end between at_ and here
  std::string held_;        // a section that has not come whole

  char* text_ = nullptr;
  std::vector<Line> lines_;
  Span method_;
  Span target_;
  int status_ = 0;
  int minor_version_ = 1;
};

}  // namespace damper::http::h1
