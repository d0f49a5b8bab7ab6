// HTTP/2 field blocks (RFC 9113 §8.3): pseudo-header fields become members of a head, and back.
#pragma once
#include <nghttp2/nghttp2.h>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/h2_options.h"
#include "http/message.h"

namespace damper::http::h2 {

// One field block while it is read. nghttp2 has checked what RFC 9113 §8 demands of names, values
// and the order and number of pseudo-header fields.
class Block {
 public:
  Block() { fields_.reserve(kUsualFields); }

  // Takes it, or notes that the block is larger than allowed and drops it. False: so much larger
  // that the stream should end.
  bool add(const H2Options& options, std::string_view name, std::string_view value);

  // Why a head is refused although its frames were right: the status that a server answers.
  using Refusal = h1::Fault;
  const Refusal* refusal() const { return refusal_; }
  bool is_interim() const { return status_ >= 100 && status_ < 200; }

  std::variant<RequestHead, const Refusal*> to_request();
  // `upgrade`: the protocol that the request asked for; empty: none.
  ResponseHead to_response(std::string_view upgrade);
  Fields to_trailers();

 private:
  static constexpr std::size_t kUsualFields = 24;  // with those that the proxy adds

  void add_pseudo(std::string_view name, std::string_view value);
  void add_field(const H2Options& options, std::string_view name, std::string_view value);
  void join_cookies();

  Fields fields_;
  std::string_view method_;
  std::string_view scheme_;
  std::string_view authority_;
  std::string_view path_;
  std::string_view protocol_;
  std::string_view host_;
  std::optional<std::uint64_t> content_length_;
  int status_ = 0;
  std::size_t bytes_ = 0;
  std::size_t cookies_ = 0;
  bool expects_continue_ = false;
  const Refusal* refusal_ = nullptr;
};

// HPACK keeps fields that were sent in a table; values that never come again only push others out
// of it, so of those fields just the first goes in, for the sake of its name.
class IndexedNames {
 public:
  bool wants(HeaderId id);

 private:
  std::uint64_t seen_ = 0;
};

// A block to be sent. The texts belong to the head and must live until nghttp2 has copied them,
// which it need not do with names that are constants.
class NameValues {
 public:
  NameValues(const RequestHead& head, IndexedNames& indexed);
  NameValues(const ResponseHead& head, IndexedNames& indexed);
  NameValues(const Fields& trailers, IndexedNames& indexed);

  const nghttp2_nv* begin() const { return many_.empty() ? few_ : many_.data(); }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kDigits = 20;
  static constexpr std::size_t kFew = 32;
  static constexpr std::size_t kPseudo = 6;  // with content-length

  void add(std::string_view name, std::string_view value, std::uint8_t flags);
  void add_constant(std::string_view name, std::string_view value);
  void add_field(const Field& field, IndexedNames& indexed);
  void reserve(std::size_t n);
  void add_fields(const Fields& fields, IndexedNames& indexed);
  void add_number(std::string_view name, std::uint64_t number, char (&digits)[kDigits]);

  nghttp2_nv few_[kFew];
  std::vector<nghttp2_nv> many_;  // instead, if that is not enough
  std::size_t size_ = 0;
  char status_[kDigits];
  char length_[kDigits];
};

// Trailers that wait for the body before them: a copy, in one piece.
class StoredTrailers {
 public:
  StoredTrailers(const Fields& trailers, IndexedNames& indexed);
  StoredTrailers(const StoredTrailers&) = delete;  // fields_ points into text_
  StoredTrailers& operator=(const StoredTrailers&) = delete;

  const nghttp2_nv* begin() const { return fields_.data(); }
  std::size_t size() const { return fields_.size(); }

 private:
  std::vector<nghttp2_nv> fields_;
  std::string text_;
};

}  // namespace damper::http::h2
