#include "filters/admission/gate.h"

#include <utility>

#include "base/check.h"

namespace damper::admission {

Gate::Gate(const config::AdmissionFilter& settings, stats::Gauge limit_gauge,
           std::shared_ptr<Load> load)
    : settings_(settings), limit_gauge_(limit_gauge), load_(std::move(load)) {
  const auto* adaptive = std::get_if<config::AdaptiveLimit>(&settings_.max_concurrency);
  if (adaptive) adaptive_.emplace(*adaptive);
}

Gate::~Gate() { DAMPER_CHECK(queue_size() == 0); }

Gate::Entry Gate::enter(http::Worker& worker, const Arrival& arrival,
                        std::function<void(Turn)> on_turn) {
  const std::lock_guard lock(mu_);
  publish_limit(worker.cells);
  if (active_ < limit_now()) {  // then nobody waits
    ++active_;
    return In{};
  }
  if (!arrival.may_wait || !make_room(arrival)) return NoPlace{};
  auto waiting = std::make_shared<Waiting>(worker.loop, std::move(on_turn), arrival.is_retry);
  Queue& queue = queue_of(*waiting);
  waiting->place_ = queue.insert(queue.end(), waiting);
  if (load_) load_->queued.fetch_add(1, std::memory_order_relaxed);
  return waiting;
}

bool Gate::make_room(const Arrival& arrival) {
  if (queue_size() < queue_limit()) return true;
  if (arrival.is_retry || retries_.empty()) return false;
  tell(retries_.back(), Turn::kDisplaced);
  return true;
}

bool Gate::withdraw(Waiting& waiting) {
  const std::lock_guard lock(mu_);
  if (waiting.told_) return false;
  waiting.on_turn_ = nullptr;
  take_out(waiting);
  return true;
}

void Gate::abandon(Waiting& waiting) {
  waiting.on_turn_ = nullptr;
  if (withdraw(waiting)) return;
  const std::lock_guard lock(mu_);
  if (*waiting.told_ != Turn::kAdmitted) return;
  --active_;
  fill();
}

void Gate::leave(http::Worker& worker, const Stay& stay) {
  const std::lock_guard lock(mu_);
  if (adaptive_) adaptive_->record(stay, active_);
  --active_;
  publish_limit(worker.cells);
  fill();
}

void Gate::take_out(Waiting& waiting) {
  queue_of(waiting).erase(waiting.place_);
  if (load_) load_->queued.fetch_sub(1, std::memory_order_relaxed);
}

// Under the lock: a request can only leave through it, and until then its loop stands.
void Gate::tell(WaitingRef waiting, Turn turn) {
  take_out(*waiting);
  waiting->told_ = turn;
  event::Loop& loop = waiting->loop_;
  loop.post([waiting = std::move(waiting), turn] {
    if (const auto on_turn = std::exchange(waiting->on_turn_, nullptr)) on_turn(turn);
  });
}

// Slots that are free go to those that wait.
void Gate::fill() {
  while (active_ < limit_now() && queue_size() > 0) {
    ++active_;
    tell(originals_.empty() ? retries_.front() : originals_.front(), Turn::kAdmitted);
  }
}

std::uint32_t Gate::limit_now() const {
  return adaptive_ ? adaptive_->limit() : std::get<std::uint32_t>(settings_.max_concurrency);
}

// The gauge is a sum over threads: whoever finds it behind brings it up.
void Gate::publish_limit(stats::Cells& cells) {
  const std::uint32_t limit = limit_now();
  if (limit == published_limit_) return;
  cells.add(limit_gauge_, std::int64_t{limit} - std::int64_t{published_limit_});
  published_limit_ = limit;
}

std::uint32_t Gate::limit() const {
  const std::lock_guard lock(mu_);
  return limit_now();
}

std::uint32_t Gate::active() const {
  const std::lock_guard lock(mu_);
  return active_;
}

std::uint32_t Gate::queued() const {
  const std::lock_guard lock(mu_);
  return static_cast<std::uint32_t>(queue_size());
}

}  // namespace damper::admission
