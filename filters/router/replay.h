// The request's body as far as it has come: held until an attempt can take it, and kept for the
// attempts after that as long as it is not larger than the limit. Shares its slices with what was
// sent.
#pragma once
#include <optional>

#include "base/buffer.h"
#include "http/worker.h"

namespace damper::router {

class Replay {
 public:
  // `wanted`: there may be a second attempt.
  Replay(http::Worker& worker, std::uint64_t limit_bytes, bool wanted)
      : worker_(worker), limit_(limit_bytes), wanted_(wanted) {}
  ~Replay() { release(); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void hold(const Buffer& body);
  // All that is held, for an attempt.
  Buffer copy() const;

  bool full() const { return bytes_.size() >= limit_; }
  bool keeps() const { return !lost_; }  // everything that came is still here
  // An attempt has been given everything: the copy is dropped if nobody will want it or it is too
  // large. True if it was wanted and is lost now.
  bool drop_if_useless();
  void release();  // no further attempt will come

 private:
  http::Worker& worker_;
  const std::uint64_t limit_;
  const bool wanted_;
  bool lost_ = false;
  Buffer bytes_;
};

}  // namespace damper::router
