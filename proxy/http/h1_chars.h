// Character classes of HTTP/1 (RFC 9110 §5.5 and §5.6.2, RFC 3986 §3.2.2) and the scans over them.
#pragma once
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <cstdint>
#include <string_view>

namespace damper::http::h1 {

using CharSet = std::array<bool, 256>;

constexpr CharSet letters_digits_and(std::string_view others) {
  CharSet set{};
  for (unsigned c = '0'; c <= '9'; ++c) set[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) set[c] = set[c - 'a' + 'A'] = true;
  for (const char c : others) set[static_cast<unsigned char>(c)] = true;
  return set;
}

inline constexpr CharSet kTokenChars = letters_digits_and("!#$%&'*+-.^_`|~");
// reg-name without the comma, which would make two hosts of one field.
inline constexpr CharSet kHostChars = letters_digits_and("-._~%!$&'()*+;=");

inline bool is_in(const CharSet& set, char c) { return set[static_cast<unsigned char>(c)]; }
inline bool is_token_char(char c) { return is_in(kTokenChars, c); }

inline const char* end_of_token(const char* at, const char* end) {
  while (at < end && is_token_char(*at)) ++at;
  return at;
}

inline bool is_token(std::string_view text) {
  return !text.empty() &&
         end_of_token(text.data(), text.data() + text.size()) == text.data() + text.size();
}

// The first byte that may not stand in a field value as it is: controls, HTAB among them.
inline const char* end_of_text(const char* at, const char* end) {
#if defined(__SSE2__)
  // There is no unsigned comparison: with the sign bit flipped the signed one orders bytes right.
  const __m128i flip = _mm_set1_epi8(static_cast<char>(0x80));
  const __m128i space = _mm_set1_epi8(static_cast<char>(0x20 ^ 0x80));
  const __m128i del = _mm_set1_epi8(0x7f);
  for (; end - at >= 16; at += 16) {
    const __m128i run = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i stop =
        _mm_or_si128(_mm_cmplt_epi8(_mm_xor_si128(run, flip), space), _mm_cmpeq_epi8(run, del));
    if (const int mask = _mm_movemask_epi8(stop); mask != 0)
      return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#endif
  while (at < end && static_cast<unsigned char>(*at) >= 0x20 && *at != 0x7f) ++at;
  return at;
}

// The first byte that may not stand in a request target: controls, blanks and everything above
// ASCII.
inline const char* end_of_target(const char* at, const char* end) {
#if defined(__SSE2__)
  const __m128i first = _mm_set1_epi8(0x21);
  const __m128i del = _mm_set1_epi8(0x7f);
  for (; end - at >= 16; at += 16) {
    const __m128i run = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i stop = _mm_or_si128(_mm_cmplt_epi8(run, first), _mm_cmpeq_epi8(run, del));
    if (const int mask = _mm_movemask_epi8(stop); mask != 0)
      return at + __builtin_ctz(static_cast<unsigned>(mask));
  }
#endif
  while (at<end&& static_cast<signed char>(*at)> 0x20 && *at != 0x7f) ++at;
  return at;
}

}  // namespace damper::http::h1
