#include "http/fields.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "base/chunk.h"

namespace damper::http {
namespace {

constexpr std::array kNames = {
    std::string_view(""),
#define DAMPER_HEADER(id, text) std::string_view(text),
#include "http/header_names.inc"
#undef DAMPER_HEADER
};

// An open-addressed table of the known names, filled at compile time.
constexpr std::size_t kSlots = 512;

constexpr std::size_t slot_of(std::string_view name) {
  std::uint32_t h = static_cast<std::uint32_t>(name.size()) * 31;
  h = (h ^ static_cast<unsigned char>(name.front())) * 0x9e3779b1u;
  h = (h ^ static_cast<unsigned char>(name[name.size() / 2])) * 0x85ebca6bu;
  h = (h ^ static_cast<unsigned char>(name.back())) * 0xc2b2ae35u;
  return (h >> 16) % kSlots;
}

constexpr auto kTable = [] {
  std::array<std::uint8_t, kSlots> table{};
  for (std::size_t i = 1; i < kNames.size(); ++i) {
    std::size_t s = slot_of(kNames[i]);
    while (table[s] != 0) s = (s + 1) % kSlots;
    table[s] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

static_assert(kNames.size() <= 64, "Fields::seen_ has a bit for each");

}  // namespace

HeaderId header_id(std::string_view name) {
  if (name.empty()) return HeaderId::kOther;
  for (std::size_t s = slot_of(name); kTable[s] != 0; s = (s + 1) % kSlots) {
    if (kNames[kTable[s]] == name) return static_cast<HeaderId>(kTable[s]);
  }
  return HeaderId::kOther;
}

std::string_view header_name(HeaderId id) { return kNames[static_cast<std::size_t>(id)]; }

Arena::Arena(Arena&& other) noexcept
    : chunks_(std::exchange(other.chunks_, nullptr)),
      at_(std::exchange(other.at_, nullptr)),
      left_(std::exchange(other.left_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  free_chunks();
  chunks_ = std::exchange(other.chunks_, nullptr);
  at_ = std::exchange(other.at_, nullptr);
  left_ = std::exchange(other.left_, 0);
  return *this;
}

void Arena::free_chunks() {
  while (chunks_) {
    Chunk* chunk = std::exchange(chunks_, chunks_->next);
    chunk->large ? ::operator delete(chunk) : free_chunk(chunk);
  }
}

char* Arena::allocate(std::size_t n) {
  if (n > left_) {
    constexpr std::size_t kUsual = kChunkBytes - sizeof(Chunk);
    const bool large = n > kUsual;
    const std::size_t room = large ? n + n / 2 : kUsual;  // some to spare for what is added later
    void* memory = large ? ::operator new(sizeof(Chunk) + room) : allocate_chunk();
    chunks_ = new (memory) Chunk{.next = chunks_, .large = large};
    at_ = reinterpret_cast<char*>(chunks_ + 1);
    left_ = room;
  }
  left_ -= n;
  return std::exchange(at_, at_ + n);
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return {};
  char* bytes = allocate(text.size());
  std::memcpy(bytes, text.data(), text.size());
  return {bytes, text.size()};
}

std::optional<std::string_view> Fields::find(HeaderId id) const {
  if (!may_have(id)) return std::nullopt;
  for (const Field& f : fields_) {
    if (f.id == id) return f.value;
  }
  return std::nullopt;
}

std::optional<std::string_view> Fields::find(std::string_view name) const {
  for (const Field& f : fields_) {
    if (f.name == name) return f.value;
  }
  return std::nullopt;
}

std::optional<std::string> Fields::joined(std::string_view name) const {
  std::optional<std::string> out;
  for (const Field& f : fields_) {
    if (f.name != name) continue;
    if (out) {
      out->append(", ").append(f.value);
    } else {
      out.emplace(f.value);
    }
  }
  return out;
}

void Fields::add(std::string_view name, std::string_view value) {
  const HeaderId id = header_id(name);
  add_view({id == HeaderId::kOther ? arena_.copy(name) : header_name(id), arena_.copy(value), id});
}

void Fields::add(HeaderId id, std::string_view value) {
  add_view({header_name(id), arena_.copy(value), id});
}

void Fields::set(std::string_view name, std::string_view value) {
  const std::string_view kept =
      arena_.copy(value);  // before the removal: value may be a view of the old one
  remove(name);
  const HeaderId id = header_id(name);
  add_view({id == HeaderId::kOther ? arena_.copy(name) : header_name(id), kept, id});
}

void Fields::set(HeaderId id, std::string_view value) {
  const std::string_view kept = arena_.copy(value);
  remove(id);
  add_view({header_name(id), kept, id});
}

std::size_t Fields::remove(HeaderId id) {
  if (!may_have(id)) return 0;
  return remove_if([id](const Field& f) { return f.id == id; });
}

std::size_t Fields::remove(std::string_view name) {
  return remove_if([name](const Field& f) { return f.name == name; });
}

std::size_t Fields::bytes() const {
  std::size_t sum = 0;
  for (const Field& f : fields_) sum += f.name.size() + f.value.size();
  return sum;
}

Fields Fields::clone() const {
  Fields out;
  out.fields_.reserve(fields_.size());
  for (const Field& f : fields_) out.add(f.name, f.value);
  return out;
}

}  // namespace damper::http
