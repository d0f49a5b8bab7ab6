#include "base/chunk.h"

#include <new>
#include <utility>

namespace damper {
namespace {

// Under a sanitizer every chunk is malloc's, so that a use after its end is seen.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kMost = 0;
#else
constexpr std::size_t kMost = 4096;
#endif

struct Free {
  Free* next;
};

// The one mutable thing in the program that is not reached through an owner: what is in it belongs
// to nobody.
class Cache {
 public:
  ~Cache() {
    while (first_) ::operator delete(std::exchange(first_, first_->next));
  }
  void* take() {
    if (!first_) return ::operator new(kChunkBytes);
    --count_;
    return std::exchange(first_, first_->next);
  }
  void give(void* chunk) {
    if (count_ >= kMost) return ::operator delete(chunk);
    ++count_;
    first_ = new (chunk) Free{first_};
  }

 private:
  Free* first_ = nullptr;
  std::size_t count_ = 0;
};

thread_local Cache cache;

}  // namespace

void* allocate_chunk() { return cache.take(); }

void free_chunk(void* chunk) { cache.give(chunk); }

}  // namespace damper
