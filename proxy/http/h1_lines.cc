#include "http/h1_lines.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "http/h1_chars.h"

namespace damper::http::h1 {
namespace {

constexpr std::ptrdiff_t kMaxMethodBytes = 32;
constexpr std::ptrdiff_t kMaxTargetBytes = 8 * 1024;
constexpr std::string_view kHttp11LineEnd = "HTTP/1.1\r\n";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool has_line_end(const char* at, const char* end) {
  return at < end && std::memchr(at, '\n', static_cast<std::size_t>(end - at)) != nullptr;
}

// HTTP-version of a request that is not 1.1: what to say about it. Null: it is HTTP/1.0.
const Fault* version_fault(std::string_view version) {
  const bool well_formed = version.size() == 8 && version.substr(0, 5) == "HTTP/" &&
                           is_digit(version[5]) && version[6] == '.' && is_digit(version[7]);
  if (!well_formed) return &kCodecError;
  return version == "HTTP/1.0" ? nullptr : &kVersionNotSupported;
}

}  // namespace

void LineReader::begin(Section section, SectionLimits limits) {
  section_ = section;
  limits_ = limits;
  in_start_line_ = section != Section::kTrailers;
  hopeless_ = false;
  complete_ = false;
  fault_ = nullptr;
  first_ = at_ = looked_ = 0;
  // An idle connection holds no memory for the next section: these give it back, unlike clear().
  std::string().swap(held_);
  std::vector<Line>().swap(lines_);
}

Step LineReader::read(Buffer& in, Arena& arena) {
  while (!in.empty()) {
    const std::string_view run = in.front();
    const std::size_t held = held_.size();
    if (held > 0) held_.append(run.substr(0, limits_.max_bytes - held));
    const std::string_view bytes = held > 0 ? std::string_view(held_) : run;
    const Step step = scan(bytes);
    if (step == Step::kBad) return step;
    if (step == Step::kDone) {
      text_ = arena.allocate(at_);
      std::memcpy(text_, bytes.data(), at_);
      in.drain(at_ - held);
      return step;
    }
    if (held == 0) held_.assign(run);
    in.drain(run.size());
  }
  return Step::kMore;
}

// `bytes` is all that has come of the section, and maybe more.
Step LineReader::scan(std::string_view bytes) {
  base_ = bytes.data();
  const char* const end = base_ + std::min(bytes.size(), limits_.max_bytes);
  if (looked_ > at_ && !has_line_end(base_ + looked_, end)) return stuck(base_ + looked_, end);
  while (!complete_) {
    const char* const from = base_ + at_;
    const char* const next = line(from, end);
    if (next == nullptr) return stuck(from, end);
    at_ = static_cast<std::size_t>(next - base_);
  }
  return Step::kDone;
}

Step LineReader::stuck(const char* line, const char* end) {
  if (hopeless_ || has_line_end(line, end)) return Step::kBad;
  looked_ = static_cast<std::size_t>(end - base_);
  fault_ = nullptr;
  if (looked_ < limits_.max_bytes) return Step::kMore;
  fault_ = section_ == Section::kTrailers                    ? &kTrailersTooLarge
           : section_ == Section::kRequest && in_start_line_ ? &kUriTooLong
                                                             : &kHeadersTooLarge;
  return Step::kBad;
}

bool LineReader::may_begin(char first) const {
  return section_ == Section::kResponse ? first == 'H' : is_token_char(first) || first == '\r';
}

const char* LineReader::line(const char* at, const char* end) {
  if (in_start_line_) return start_line(at, end);
  if (end - at >= 2 && at[0] == '\r' && at[1] == '\n') {
    complete_ = true;
    return at + 2;
  }
  return field_line(at, end);
}

const char* LineReader::start_line(const char* at, const char* end) {
  hopeless_ = at < end && !may_begin(*at);
  if (hopeless_) return refuse(kCodecError);
  if (section_ == Section::kResponse) return status_line(at, end);
  if (first_ == 0 && end - at >= 2 && at[0] == '\r' &&
      at[1] == '\n') {  // RFC 9112 §2.2: one empty line before it
    first_ = 2;
    return at + 2;
  }
  return request_line(at, end);
}

const char* LineReader::request_line(const char* at, const char* end) {
  const char* const method = at;
  at = end_of_token(at, end);
  if (at == end || *at != ' ' || at == method || at - method > kMaxMethodBytes)
    return refuse(kCodecError);
  method_ = span(method, at);
  const char* const target = ++at;
  at = end_of_target(at, end);
  if (at == end || *at != ' ' || at == target) return refuse(kInvalidUrl);
  if (at - target > kMaxTargetBytes) return refuse(kUriTooLong);
  target_ = span(target, at);
  return request_version(at + 1, end);
}

const char* LineReader::request_version(const char* at, const char* end) {
  const std::string_view rest(at, static_cast<std::size_t>(end - at));
  minor_version_ = 1;
  in_start_line_ = false;
  if (rest.substr(0, kHttp11LineEnd.size()) == kHttp11LineEnd) return at + kHttp11LineEnd.size();
  in_start_line_ = true;
  const std::size_t line_size = rest.find("\r\n");
  if (line_size == std::string_view::npos) return refuse(kCodecError);
  if (const Fault* fault = version_fault(rest.substr(0, line_size))) return refuse(*fault);
  minor_version_ = 0;
  in_start_line_ = false;
  return at + line_size + 2;
}

const char* LineReader::status_line(const char* at, const char* end) {
  constexpr std::ptrdiff_t kUpToStatus = 12;  // "HTTP/1.1 200"
  if (end - at <= kUpToStatus || std::memcmp(at, "HTTP/1.", 7) != 0) return refuse(kCodecError);
  const bool version = (at[7] == '0' || at[7] == '1') && at[8] == ' ';
  const bool status = at[9] >= '1' && is_digit(at[9]) && is_digit(at[10]) && is_digit(at[11]);
  if (!version || !status || (at[12] != ' ' && at[12] != '\r')) return refuse(kCodecError);
  minor_version_ = at[7] - '0';
  status_ = (at[9] - '0') * 100 + (at[10] - '0') * 10 + (at[11] - '0');
  const char* const next = line_end(at + kUpToStatus, end, kCodecError);
  if (next != nullptr) in_start_line_ = false;
  return next;
}

const char* LineReader::field_line(const char* at, const char* end) {
  const char* const name = at;
  at = end_of_token(at, end);
  if (at == end || *at != ':' || at == name) return refuse(kCodecError);
  const char* const name_end = at++;
  while (at < end && is_blank(*at)) ++at;
  const char* const value = at;
  const char* const next = line_end(at, end, kInvalidCharacters);
  if (next == nullptr) return nullptr;
  const char* value_end = next - 2;
  while (value_end > value && is_blank(value_end[-1])) --value_end;
  if (lines_.size() == limits_.max_fields) return refuse(kTooManyHeaders);
  constexpr std::size_t kUsual = 24;
  if (lines_.empty()) lines_.reserve(kUsual);
  lines_.push_back({span(name, name_end), span(value, value_end)});
  return next;
}

// Skips text and tabs up to CRLF, and that. A control on the way is a fault.
const char* LineReader::line_end(const char* at, const char* end, const Fault& otherwise) {
  while ((at = end_of_text(at, end)) < end && *at == '\t') ++at;
  if (end - at < 2 || at[0] != '\r' || at[1] != '\n') return refuse(otherwise);
  return at + 2;
}

const char* LineReader::refuse(const Fault& fault) {
  fault_ = &fault;
  return nullptr;
}

LineReader::Span LineReader::span(const char* from, const char* to) const {
  return {.at = static_cast<std::uint32_t>(from - base_),
          .size = static_cast<std::uint32_t>(to - from)};
}

}  // namespace damper::http::h1
