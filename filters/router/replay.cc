#include "filters/router/replay.h"

#include <utility>

namespace damper::router {

void Replay::hold(const Buffer& body) {
  bytes_.share_from(body);
  worker_.replay_bytes += body.size();
}

Buffer Replay::copy() const {
  Buffer out;
  out.share_from(bytes_);
  return out;
}

bool Replay::drop_if_useless() {
  if (lost_ || bytes_.empty()) return false;
  const bool too_large = bytes_.size() > limit_ || worker_.replay_bytes > worker_.replay_bytes_max;
  if (wanted_ && !too_large) return false;
  release();
  return wanted_;
}

void Replay::release() {
  worker_.replay_bytes -= bytes_.size();
  lost_ = lost_ || !bytes_.empty();
  bytes_.clear();
}

}  // namespace damper::router
