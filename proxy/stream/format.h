// What is written of a request: a line of the access log, or the value of a header that is added.
// Compiled once and immutable: threads share it.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/model/log.h"
#include "stream/json_format.h"
#include "stream/pieces.h"

namespace damper::stream {

class Format {
 public:
  // Envoy's, for a log that names no format.
  static constexpr std::string_view kDefault =
      "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%\" "
      "%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% "
      "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% \"%REQ(X-FORWARDED-FOR)%\" \"%REQ(USER-AGENT)%\" "
      "\"%REQ(X-REQUEST-ID)%\" \"%REQ(:AUTHORITY)%\" \"%UPSTREAM_HOST%\"\n";

  // What a log writes: its JSON or its text, kDefault if it has neither.
  static Result<Format> of(const config::AccessLog& log);

  // A missing value is "-", with `omit_empty_values` nothing. Control characters of values are
  // written "\x0a", so that no value forges a line or a column; the format's own stay, and its line
  // end is a part of it.
  static Result<Format> text(std::string_view format, bool omit_empty_values = false);
  // One JSON value and a line end.
  static Result<Format> json(const config::AccessLog::Json& json, bool omit_empty_values);
  // For request_headers_to_add and the like: a missing value is nothing, and tabs stay.
  static Result<Format> header_value(std::string_view format);

  // No operator: write() appends the same text whatever the record.
  bool is_literal() const;
  void write(const AccessRecord& record, std::string& out) const;

 private:
  struct Text {
    std::vector<Piece> pieces;
    std::string_view missing;
    bool keep_tabs = false;
  };
  explicit Format(std::variant<Text, JsonFormat> form) : form_(std::move(form)) {}

  static Result<Format> compile_text(std::string_view format, std::string_view missing,
                                     bool keep_tabs);
  static void write_text(const Text& text, const AccessRecord& record, std::string& out);

  std::variant<Text, JsonFormat> form_;
};

}  // namespace damper::stream
