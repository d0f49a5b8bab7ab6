// Result<T>: how a function reports that it failed. An Error says what, whose fault, and the
// details.
#pragma once
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace damper {

enum class Errc {
  kClosed,  // the peer ended the connection
  kReset,   // the peer broke it (ECONNRESET, RST_STREAM)
  kTimeout,
  kRefused,   // no connection could be made
  kProtocol,  // bytes that the protocol forbids
  kLimit,     // one of our limits
  kInvalid,   // an argument or a file
  kSystem,    // a system call
};

// Whose fault: decides log level, statistic, status code and what may be repeated.
enum class Side { kDownstream, kUpstream, kLocal };

struct [[nodiscard]] Error {
  Errc code;
  Side side = Side::kLocal;
  std::string detail;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : v_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return v_.index() == 0; }

  T& operator*() & { return value(); }
  const T& operator*() const& { return const_cast<Result*>(this)->value(); }
  T&& operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &const_cast<Result*>(this)->value(); }

  const Error& error() const& {
    DAMPER_CHECK(!*this);
    return *std::get_if<1>(&v_);
  }
  Error&& error() && {
    DAMPER_CHECK(!*this);
    return std::move(*std::get_if<1>(&v_));
  }

 private:
  T& value() {
    DAMPER_CHECK(*this);
    return *std::get_if<0>(&v_);
  }

  std::variant<T, Error> v_;
};

struct Ok {};
using Status = Result<Ok>;

}  // namespace damper

// Passes a failure on: TRY(status); TRY_ASSIGN(auto x, result).
// NOLINTBEGIN(bugprone-macro-parentheses)
#define DAMPER_JOIN_(a, b) a##b
#define DAMPER_JOIN(a, b) DAMPER_JOIN_(a, b)
#define TRY(expression)                                \
  do {                                                 \
    if (auto try_result = (expression); !try_result) { \
      return std::move(try_result).error();            \
    }                                                  \
  } while (false)
#define TRY_ASSIGN(target, expression) \
  TRY_ASSIGN_(DAMPER_JOIN(try_result_, __LINE__), target, expression)
#define TRY_ASSIGN_(name, target, expression) \
  auto name = (expression);                   \
  if (!name) return std::move(name).error();  \
  target = *std::move(name)
// NOLINTEND(bugprone-macro-parentheses)
