#include "http/keep_alive.h"

#include <utility>

#include "base/random.h"

namespace damper::http {

std::unique_ptr<KeepAlive> KeepAlive::make(net::Connection& connection,
                                           const config::Http2Options& options, std::uint64_t seed,
                                           std::function<void()> ping) {
  if (options.keepalive_interval == Duration::zero()) return nullptr;
  const auto jitter = std::chrono::duration_cast<Duration>(
      options.keepalive_interval * (Random(seed).unit() * options.keepalive_jitter_percent / 100));
  return std::unique_ptr<KeepAlive>(new KeepAlive(connection, options.keepalive_interval + jitter,
                                                  options.keepalive_timeout, std::move(ping)));
}

KeepAlive::KeepAlive(net::Connection& connection, Duration interval, Duration timeout,
                     std::function<void()> ping)
    : connection_(connection),
      interval_(interval),
      timeout_(timeout),
      ping_(std::move(ping)),
      seen_(connection.bytes_read()),
      timer_(connection.loop().timer([this] { on_time(); })) {
  timer_->arm(interval_);
}

void KeepAlive::on_time() {
  const bool alive = std::exchange(seen_, connection_.bytes_read()) != connection_.bytes_read();
  if (alive) {
    asked_ = false;
    return timer_->arm(interval_);
  }
  if (asked_) {
    return connection_.close({Errc::kTimeout, Side::kLocal, "keepalive: no answer to PING"});
  }
  asked_ = true;
  ping_();
  connection_.flush_later();
  timer_->arm(timeout_);
}

}  // namespace damper::http
