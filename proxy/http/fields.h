// The header or trailer section of a message: names in lower case, values as they came, in order.
// Text lives in the section's own arena, so views into it stay valid until the section dies,
// whatever is added.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/chunk.h"

namespace damper::http {

// Names that the program itself looks at. Everything else is kOther and found by its text.
enum class HeaderId : std::uint8_t {
  kOther,
#define DAMPER_HEADER(id, text) id,
#include "http/header_names.inc"
#undef DAMPER_HEADER
};

HeaderId header_id(std::string_view lower_case_name);
std::string_view header_name(HeaderId id);

struct Field {
  std::string_view name;
  std::string_view value;
  HeaderId id = HeaderId::kOther;
};

// Memory for text, given out in pieces and freed at once. Pieces never move.
class Arena {
 public:
  Arena() = default;
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { free_chunks(); }

  char* allocate(std::size_t n);
  std::string_view copy(std::string_view text);

 private:
  struct Chunk {
    Chunk* next;
    bool large;  // malloc's: it did not fit a chunk of base/chunk.h
  };
  void free_chunks();

  Chunk* chunks_ = nullptr;
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

class Fields {
 public:
  using const_iterator = std::vector<Field, ChunkAllocator<Field>>::const_iterator;

  std::size_t size() const { return fields_.size(); }
  bool empty() const { return fields_.empty(); }
  const_iterator begin() const { return fields_.begin(); }
  const_iterator end() const { return fields_.end(); }

  // The first value under that name.
  std::optional<std::string_view> find(HeaderId id) const;
  std::optional<std::string_view> find(std::string_view lower_case_name) const;
  bool has(HeaderId id) const { return may_have(id) && find(id).has_value(); }
  // All values under that name, joined by ", " as RFC 9110 §5.3 reads them; nothing if there is
  // none.
  std::optional<std::string> joined(std::string_view lower_case_name) const;

  // `add` copies its text; names must be in lower case.
  void add(std::string_view name, std::string_view value);
  void add(HeaderId id, std::string_view value);
  void set(std::string_view name, std::string_view value);  // replaces all of that name
  void set(HeaderId id, std::string_view value);
  std::size_t remove(HeaderId id);
  std::size_t remove(std::string_view lower_case_name);
  template <class Predicate>
  std::size_t remove_if(Predicate predicate) {
    return std::erase_if(fields_, predicate);
  }

  // For codecs: text already in the arena is added without another copy.
  Arena& arena() { return arena_; }
  void add_view(Field field) {
    seen_ |= bit(field.id);
    fields_.push_back(field);
  }
  void reserve(std::size_t n) { fields_.reserve(n); }

  std::size_t bytes() const;  // sum of names and values

  Fields clone() const;

 private:
  static std::uint64_t bit(HeaderId id) { return std::uint64_t{1} << static_cast<unsigned>(id); }
  bool may_have(HeaderId id) const { return (seen_ & bit(id)) != 0; }

  Arena arena_;
  std::vector<Field, ChunkAllocator<Field>> fields_;
  std::uint64_t seen_ =
      0;  // ids that were added: most questions are about fields that are not there
};

}  // namespace damper::http
