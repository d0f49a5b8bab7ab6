#include "base/buffer.h"

#include <algorithm>
#include <new>

#include "base/check.h"
#include "base/chunk.h"

namespace damper {
namespace {

constexpr std::size_t kSmallBlock = kChunkBytes - sizeof(Block);
constexpr std::size_t kLargeBlock = 16 * 1024 - sizeof(Block) - 16;

}  // namespace

Block* Block::create(std::size_t capacity_bytes) {
  DAMPER_CHECK(capacity_bytes <= UINT32_MAX);
  void* memory = capacity_bytes == kSmallBlock ? allocate_chunk()
                                               : ::operator new(sizeof(Block) + capacity_bytes);
  return new (memory) Block(static_cast<std::uint32_t>(capacity_bytes));
}

void Block::destroy(Block* block) {
  const bool is_chunk = block->capacity_bytes() == kSmallBlock;
  block->~Block();
  is_chunk ? free_chunk(block) : ::operator delete(block);
}

void Buffer::clear() {
  while (count_ > 0) pop_front();
  release_storage();
  size_ = 0;
}

void Buffer::release_storage() {
  if (slices_ != inline_) delete[] slices_;
  slices_ = inline_;
  capacity_ = kInline;
  first_ = 0;
}

void Buffer::swap(Buffer& other) noexcept {
  const bool mine_inline = slices_ == inline_;
  const bool theirs_inline = other.slices_ == other.inline_;
  for (std::uint32_t i = 0; i < kInline; ++i) std::swap(inline_[i], other.inline_[i]);
  std::swap(slices_, other.slices_);
  if (theirs_inline) slices_ = inline_;
  if (mine_inline) other.slices_ = other.inline_;
  std::swap(capacity_, other.capacity_);
  std::swap(first_, other.first_);
  std::swap(count_, other.count_);
  std::swap(size_, other.size_);
}

void Buffer::push(Slice s) {
  if (first_ + count_ == capacity_) {
    if (first_ > 0 && count_ <= capacity_ / 2) {
      std::move(slices_ + first_, slices_ + first_ + count_, slices_);
    } else {
      auto* grown = new Slice[capacity_ * 2];
      std::move(slices_ + first_, slices_ + first_ + count_, grown);
      if (slices_ != inline_) delete[] slices_;
      slices_ = grown;
      capacity_ *= 2;
    }
    first_ = 0;
  }
  size_ += s.length;
  slices_[first_ + count_++] = std::move(s);
}

void Buffer::pop_front() {
  slices_[first_] = Slice{};
  ++first_;
  if (--count_ == 0) release_storage();
}

// A slice keeps its block alive: below an eighth of it a copy is cheaper than the memory pinned.
bool Buffer::worth_sharing(const Slice& s, std::size_t n) {
  return n >= s.block->capacity_bytes() / 8;
}

char* Buffer::reserve(std::size_t n) {
  if (count_ > 0) {
    const Slice& last = slice(count_ - 1);
    if (last.offset + last.length == last.block->used_bytes && last.block->free_bytes() >= n) {
      return last.block->bytes() + last.block->used_bytes;
    }
  }
  const std::size_t usual = size_ == 0 ? kSmallBlock : kLargeBlock;
  push({.block = BlockRef(Block::create(std::max(n, usual))), .offset = 0, .length = 0});
  return slice(count_ - 1).block->bytes();
}

void Buffer::commit(std::size_t n) {
  Slice& last = slice(count_ - 1);
  last.length += static_cast<std::uint32_t>(n);
  last.block->used_bytes += static_cast<std::uint32_t>(n);
  size_ += n;
}

void Buffer::append(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t room = 0;
    if (count_ > 0) {
      const Slice& last = slice(count_ - 1);
      if (last.offset + last.length == last.block->used_bytes) room = last.block->free_bytes();
    }
    const std::size_t n = room > 0 ? std::min(room, bytes.size()) : bytes.size();
    std::memcpy(reserve(n), bytes.data(), n);
    commit(n);
    bytes.remove_prefix(n);
  }
}

void Buffer::append_slice(BlockRef block, std::size_t offset, std::size_t n) {
  if (n == 0) return;
  push({.block = std::move(block),
        .offset = static_cast<std::uint32_t>(offset),
        .length = static_cast<std::uint32_t>(n)});
}

void Buffer::move_from(Buffer& from, std::size_t n) {
  while (n > 0) {
    const Slice& s = from.slice(0);
    if (s.length == 0) {
      from.pop_front();
      continue;
    }
    const std::size_t take = std::min<std::size_t>(n, s.length);
    if (worth_sharing(s, take)) {
      take_from(from, take);
    } else {
      append(s.view().substr(0, take));
      from.drain(take);
    }
    n -= take;
  }
}

void Buffer::take_from(Buffer& from, std::size_t n) {
  while (n > 0) {
    Slice& s = from.slice(0);
    const std::size_t take = std::min<std::size_t>(n, s.length);
    if (take < s.length) {
      push({.block = s.block, .offset = s.offset, .length = static_cast<std::uint32_t>(take)});
      from.drain(take);
    } else {
      from.size_ -= take;
      if (take > 0) push(std::move(s));
      from.pop_front();
    }
    n -= take;
  }
}

void Buffer::share_from(const Buffer& from) {
  for (std::uint32_t i = 0; i < from.count_; ++i) {
    const Slice& s = from.slice(i);
    if (worth_sharing(s, s.length)) {
      push(s);
    } else {
      append(s.view());
    }
  }
}

void Buffer::share_run(const Buffer& from, std::size_t offset, std::size_t n) {
  std::uint32_t first = 0;
  while (from.slice(first).length == 0) ++first;
  Slice part = from.slice(first);
  part.offset += static_cast<std::uint32_t>(offset);
  part.length = static_cast<std::uint32_t>(n);
  push(std::move(part));
}

void Buffer::drain(std::size_t n) {
  DAMPER_CHECK(n <= size_);
  size_ -= n;
  while (n > 0) {
    Slice& s = slice(0);
    if (n < s.length) {
      s.offset += static_cast<std::uint32_t>(n);
      s.length -= static_cast<std::uint32_t>(n);
      return;
    }
    n -= s.length;
    pop_front();
  }
}

std::string_view Buffer::front() const {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (slice(i).length > 0) return slice(i).view();
  }
  return {};
}

std::size_t Buffer::copy_front(char* out, std::size_t at_most) const {
  std::size_t copied = 0;
  for (std::uint32_t i = 0; i < count_ && copied < at_most; ++i) {
    copied += slice(i).view().copy(out + copied, at_most - copied);
  }
  return copied;
}

int Buffer::peek(iovec* out, int at_most) const {
  int n = 0;
  for (std::uint32_t i = 0; i < count_ && n < at_most; ++i) {
    const Slice& s = slice(i);
    if (s.length == 0) continue;
    out[n++] = {.iov_base = s.block->bytes() + s.offset, .iov_len = s.length};
  }
  return n;
}

void Buffer::compact() {
  Buffer kept;
  kept.move_from(*this, size_);
  *this = std::move(kept);
}

std::string Buffer::to_string() const {
  std::string out;
  out.reserve(size_);
  for (std::uint32_t i = 0; i < count_; ++i) out.append(slice(i).view());
  return out;
}

}  // namespace damper
