// Bytes on their way between two connections: a queue of slices of reference-counted blocks.
// Large runs move from one buffer to another without a copy; what is small is copied, because a
// slice keeps its whole block alive. Blocks belong to one thread: a buffer never crosses threads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/uio.h>
#include <utility>

namespace damper {

// A run of memory shared by slices. `used_bytes` only grows: whoever holds the slice that ends
// there may append.
class Block {
 public:
  static Block* create(std::size_t capacity_bytes);

  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::size_t capacity_bytes() const { return capacity_; }
  std::size_t free_bytes() const { return capacity_ - used_bytes; }
  bool shared() const { return references_ > 1; }
  void retain() { ++references_; }
  void release() {
    if (--references_ == 0) destroy(this);
  }

  std::uint32_t used_bytes = 0;

 private:
  explicit Block(std::uint32_t capacity) : capacity_(capacity) {}
  static void destroy(Block* block);

  std::uint32_t references_ = 1;
  std::uint32_t capacity_;
};

// Owns one reference to a block.
class BlockRef {
 public:
  BlockRef() = default;
  explicit BlockRef(Block* owned) : block_(owned) {}
  BlockRef(const BlockRef& other) : block_(other.block_) {
    if (block_) block_->retain();
  }
  BlockRef(BlockRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~BlockRef() {
    if (block_) block_->release();
  }
  Block* operator->() const { return block_; }
  Block* get() const { return block_; }
  explicit operator bool() const { return block_ != nullptr; }

 private:
  Block* block_ = nullptr;
};

class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    clear();
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { release_storage(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void clear();
  void swap(Buffer& other) noexcept;

  void append(std::string_view bytes);  // copies
  void append(Buffer&& from) { move_from(from, from.size()); }
  // Takes the first n bytes of `from`: large slices by reference, small ones by copy.
  void move_from(Buffer& from, std::size_t n);
  // Takes them by reference whatever their size: for bytes that are handed on at once.
  void take_from(Buffer& from, std::size_t n);
  // Appends the bytes of `from` and leaves them there too: large slices are shared.
  void share_from(const Buffer& from);
  // Appends n bytes of the first run of `from`, from `offset` on, by reference, and leaves them
  // there too: for bytes that are handed on at once.
  void share_run(const Buffer& from, std::size_t offset, std::size_t n);
  // A slice of a block that somebody else filled (the worker's read block).
  void append_slice(BlockRef block, std::size_t offset, std::size_t n);

  void drain(std::size_t n);       // forgets the first n bytes
  std::string_view front() const;  // the first run; empty if there is none
  std::size_t copy_front(char* out, std::size_t at_most) const;  // how many there were
  int peek(iovec* out, int at_most) const;                       // runs in order, for writev
  // Copies what it holds out of blocks that it would keep alive nearly empty: for bytes that stay
  // for a while.
  void compact();

  // Room for at least n bytes at the end, to be filled and committed at once.
  char* reserve(std::size_t n);
  void commit(std::size_t n);

  std::string to_string() const;

 private:
  struct Slice {
    BlockRef block;
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    std::string_view view() const { return {block->bytes() + offset, length}; }
  };
  static constexpr std::uint32_t kInline = 1;

  Slice& slice(std::uint32_t i) { return slices_[first_ + i]; }
  const Slice& slice(std::uint32_t i) const { return slices_[first_ + i]; }
  void push(Slice s);
  void pop_front();
  void release_storage();
  static bool worth_sharing(const Slice& s, std::size_t n);

  Slice inline_[kInline];
  Slice* slices_ = inline_;
  std::uint32_t capacity_ = kInline;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::size_t size_ = 0;
};

}  // namespace damper
