// DAMPER_CHECK: a broken invariant ends the process. Never for what comes from a network or a file.
#pragma once
#include <cstdio>
#include <cstdlib>

namespace damper {

[[noreturn]] inline void check_failed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace damper

#define DAMPER_CHECK(condition)                               \
  do {                                                        \
    if (!(condition)) [[unlikely]] {                          \
      ::damper::check_failed(__FILE__, __LINE__, #condition); \
    }                                                         \
  } while (false)
