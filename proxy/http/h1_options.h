// What the HTTP/1 codecs may be told, and the words in which they refuse a message.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/model/listener.h"

namespace damper::http {

// Envoy's headers_with_underscores_action: what becomes of `x_name`, which CGI cannot tell from
// x-name.
using Underscores = config::HttpOptions::Underscores;

struct H1ServerOptions {
  bool accept_http_10 = false;
  std::string
      default_host_for_http_10;  // authority of an HTTP/1.0 request without Host; empty: 400
  bool enable_trailers = false;  // reports request trailers, writes response trailers
  bool allow_absolute_url = true;
  std::size_t max_head_bytes = 60 * 1024;
  std::size_t max_headers = 100;
  Underscores headers_with_underscores = Underscores::kAllow;
  bool proxy_100_continue = false;  // leaves `expect: 100-continue` among the fields
};

struct H1ClientOptions {
  std::size_t max_head_bytes = 60 * 1024;
  std::size_t max_headers = 100;
  bool enable_trailers = false;  // reports response trailers, writes request trailers and `te`
};

namespace h1 {

// Why a message cannot be read: the status that a server answers, and Envoy's response code detail.
struct Fault {
  int status;
  std::string_view detail;
};

inline constexpr Fault kCodecError{400, "http1.codec_error"};
inline constexpr Fault kInvalidCharacters{400, "http1.invalid_characters"};
inline constexpr Fault kInvalidUrl{400, "http1.invalid_url"};
inline constexpr Fault kUriTooLong{414, "http1.uri_too_long"};
inline constexpr Fault kHeadersTooLarge{431, "http1.headers_too_large"};
inline constexpr Fault kTooManyHeaders{431, "http1.too_many_headers"};
inline constexpr Fault kTrailersTooLarge{431, "http1.trailers_too_large"};
inline constexpr Fault kUnexpectedUnderscore{400, "http1.unexpected_underscore"};
inline constexpr Fault kInvalidContentLength{400, "http1.invalid_content_length"};
inline constexpr Fault kInvalidTransferEncoding{400, "http1.invalid_transfer_encoding"};
inline constexpr Fault kUnknownTransferEncoding{501, "http1.invalid_transfer_encoding"};
inline constexpr Fault kLengthAndChunked{400, "http1.content_length_and_chunked_not_allowed"};
inline constexpr Fault kBodyDisallowed{400, "http1.body_disallowed"};
inline constexpr Fault kUpgradeRequired{426, "low_version"};
inline constexpr Fault kVersionNotSupported{505, "low_version"};
inline constexpr Fault kMissingHost{400, "missing_host_header"};
inline constexpr Fault kInvalidHost{400, "http1.invalid_host"};
inline constexpr Fault kUnexpectedUpgrade{400, "http1.unexpected_101"};
inline constexpr Fault kTooManyInterim{400, "http1.too_many_1xx"};

inline Error to_error(const Fault& fault, Side side) {
  const bool limit = fault.status == 414 || fault.status == 431;
  return {limit ? Errc::kLimit : Errc::kProtocol, side, std::string(fault.detail)};
}

}  // namespace h1
}  // namespace damper::http
