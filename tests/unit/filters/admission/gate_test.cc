#include "filters/admission/gate.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "base/random.h"

namespace damper::admission {
namespace {

using namespace std::chrono_literals;
using Turn = Gate::Turn;

config::AdmissionFilter settings(std::uint32_t max_concurrency,
                                 std::optional<std::uint32_t> max_queue = std::nullopt) {
  config::AdmissionFilter out;
  out.max_concurrency = max_concurrency;
  out.max_queue = max_queue;
  return out;
}

constexpr Gate::Arrival kOriginal{};
constexpr Gate::Arrival kRetry{.is_retry = true};

class GateTest : public testing::Test {
 protected:
  void open(const config::AdmissionFilter& with) {
    gate_ = std::make_unique<Gate>(with, stats_.admission.limit, load_);
  }
  // What a request hears is noted under its name.
  Gate::Entry enter(const std::string& name, Gate::Arrival arrival, http::Worker& worker) {
    return gate_->enter(worker, arrival, [this, name](Turn turn) {
      heard_.push_back(name + (turn == Turn::kAdmitted ? " in" : " out"));
    });
  }
  Gate::Entry enter(const std::string& name, Gate::Arrival arrival = kOriginal) {
    return enter(name, arrival, one_);
  }
  bool goes_in(Gate::Arrival arrival = kOriginal) {
    return std::holds_alternative<Gate::In>(enter("?", arrival));
  }
  static Gate::WaitingRef waiting(Gate::Entry entry) { return std::get<Gate::WaitingRef>(entry); }
  void leave() { gate_->leave(one_, {}); }
  std::vector<std::string> heard() {
    one_.loop.run_once();
    two_.loop.run_once();
    return std::exchange(heard_, {});
  }
  using Words = std::vector<std::string>;

  stats::Registry registry_;
  stats::HttpStats stats_{registry_, "in"};
  http::Worker one_{0, 2, 1, registry_.new_cells()};
  http::Worker two_{1, 2, 2, registry_.new_cells()};
  std::shared_ptr<Load> load_ = std::make_shared<Load>();
  std::unique_ptr<Gate> gate_;
  Words heard_;
};

TEST_F(GateTest, LetsInAsManyAsItMay) {
  open(settings(2, 0));
  EXPECT_TRUE(goes_in());
  EXPECT_TRUE(goes_in());
  EXPECT_FALSE(goes_in());
  leave();
  EXPECT_TRUE(goes_in());
}

TEST_F(GateTest, GivesASlotToTheFirstThatWaits) {
  open(settings(1, 3));
  ASSERT_TRUE(goes_in());
  enter("a");
  enter("b", kOriginal, two_);
  EXPECT_EQ(heard(), Words{});
  leave();
  EXPECT_EQ(heard(), Words{"a in"});
  leave();
  EXPECT_EQ(heard(), Words{"b in"});
  leave();
  EXPECT_EQ(gate_->active(), 0u);
}

TEST_F(GateTest, FirstAttemptsComeBeforeRetries) {
  open(settings(1, 4));
  ASSERT_TRUE(goes_in());
  enter("retry 1", kRetry);
  enter("a");
  enter("retry 2", kRetry);
  enter("b");
  Words order;
  for (int i = 0; i < 4; ++i) {
    leave();
    order.push_back(heard().at(0));
  }
  EXPECT_EQ(order, (Words{"a in", "b in", "retry 1 in", "retry 2 in"}));
  leave();
}

TEST_F(GateTest, AFullQueueHasNoPlace) {
  open(settings(1));  // one may wait
  ASSERT_TRUE(goes_in());
  const auto first = waiting(enter("a"));
  EXPECT_TRUE(std::holds_alternative<Gate::NoPlace>(enter("b")));
  EXPECT_TRUE(std::holds_alternative<Gate::NoPlace>(enter("c", kRetry)));
  EXPECT_TRUE(gate_->withdraw(*first));
  EXPECT_EQ(heard(), Words{});
}

TEST_F(GateTest, OfAQueueThatIsFullTheNewestRetryGivesWay) {
  open(settings(1, 3));
  ASSERT_TRUE(goes_in());
  const auto old_retry = waiting(enter("old retry", kRetry));
  enter("new retry", kRetry);
  const auto a = waiting(enter("a"));
  const auto b = waiting(enter("b"));
  EXPECT_EQ(heard(), Words{"new retry out"});
  EXPECT_EQ(gate_->queued(), 3u);
  for (const auto& each : {old_retry, a, b}) EXPECT_TRUE(gate_->withdraw(*each));
}

TEST_F(GateTest, WhoMayNotWaitIsNotQueuedAndDisplacesNobody) {
  open(settings(1, 1));
  ASSERT_TRUE(goes_in());
  const auto retry = waiting(enter("retry", kRetry));
  EXPECT_TRUE(std::holds_alternative<Gate::NoPlace>(enter("late", {.may_wait = false})));
  EXPECT_EQ(heard(), Words{});
  EXPECT_TRUE(gate_->withdraw(*retry));
}

TEST_F(GateTest, WhoHasWithdrawnHearsNothing) {
  open(settings(1, 2));
  ASSERT_TRUE(goes_in());
  const auto a = waiting(enter("a"));
  enter("b");
  EXPECT_TRUE(gate_->withdraw(*a));
  leave();
  EXPECT_EQ(heard(), Words{"b in"});
  leave();
}

TEST_F(GateTest, ItIsTooLateToWithdrawOnceTheSlotIsOnItsWay) {
  open(settings(1, 1));
  ASSERT_TRUE(goes_in());
  const auto a = waiting(enter("a"));
  leave();
  EXPECT_FALSE(gate_->withdraw(*a));
  EXPECT_EQ(heard(), Words{"a in"});
  leave();
}

TEST_F(GateTest, ASlotOnItsWayToARequestThatIsGoneGoesOnToTheNext) {
  open(settings(1, 2));
  ASSERT_TRUE(goes_in());
  const auto a = waiting(enter("a", kOriginal, two_));
  enter("b");
  leave();
  gate_->abandon(*a);
  EXPECT_EQ(heard(), Words{"b in"});
  EXPECT_EQ(gate_->active(), 1u);
  leave();
  EXPECT_EQ(gate_->active(), 0u);
}

TEST_F(GateTest, AnAbandonedRequestThatWasDisplacedHadNoSlot) {
  open(settings(1, 1));
  ASSERT_TRUE(goes_in());
  const auto retry = waiting(enter("retry", kRetry));
  const auto a = waiting(enter("a"));
  gate_->abandon(*retry);
  EXPECT_EQ(gate_->active(), 1u);
  gate_->abandon(*a);
  EXPECT_EQ(heard(), Words{});
}

TEST_F(GateTest, TellsTheListenerHowManyWait) {
  open(settings(1, 2));
  ASSERT_TRUE(goes_in());
  EXPECT_EQ(load_->queued, 0u);
  const auto a = waiting(enter("a"));
  enter("b");
  EXPECT_EQ(load_->queued, 2u);
  EXPECT_TRUE(gate_->withdraw(*a));
  leave();
  EXPECT_EQ(load_->queued, 0u);
  heard();
  leave();
}

TEST_F(GateTest, PublishesItsLimitOnce) {
  open(settings(7));
  goes_in();
  leave();
  gate_->enter(two_, kOriginal, nullptr);
  gate_->leave(two_, {});
  EXPECT_EQ(registry_.value(stats_.admission.limit), 7);
}

TEST_F(GateTest, AnAdaptiveLimitThatGrowsLetsSeveralInAtOnce) {
  config::AdmissionFilter with = settings(0, 100);
  with.max_concurrency = config::AdaptiveLimit{.initial = 4, .min = 1};
  open(with);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(goes_in());
  for (int i = 0; i < 100; ++i) enter("x");
  TimePoint now{};
  for (int i = 0; i < 50; ++i) {  // measured, then judged: no slower
    now += 10ms;
    gate_->leave(one_, {.admitted = now - 10ms, .ended = now});
  }
  for (int i = 0; i < 20; ++i) {
    now += 10ms;
    gate_->leave(one_, {.admitted = now - 10ms, .ended = now});
  }
  EXPECT_EQ(gate_->limit(), 7u);  // 4 × 1.25, and its root
  EXPECT_EQ(gate_->active(), 7u);
  EXPECT_EQ(registry_.value(stats_.admission.limit), 7);
  heard();
  while (gate_->active() > 0) {
    leave();
    heard();
  }
}

// --- Any order of events -------------------------------------------------------------------------

// Requests of three workers come, leave, give up and hear of their turns in any order; a queue kept
// by hand says who must be next.
class AnyOrder : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr unsigned kWorkers = 3;

  enum class State { kWaiting, kTold, kInside, kGone };
  struct Request {
    unsigned worker;
    bool retry;
    State state = State::kGone;
    Turn told{};
    Gate::WaitingRef waiting = nullptr;
  };

  AnyOrder() {
    for (unsigned i = 0; i < kWorkers; ++i) {
      workers_.push_back(std::make_unique<http::Worker>(i, kWorkers, i, registry_.new_cells()));
    }
  }

  void step() {
    switch (random_.below(5)) {
      case 0:
      case 1: return arrive();
      case 2: return end_one();
      case 3: return give_up();
      default: workers_[random_.below(kWorkers)]->loop.run_once();
    }
  }

  void arrive() {
    const std::size_t id = requests_.size();
    requests_.push_back(
        {.worker = static_cast<unsigned>(random_.below(kWorkers)), .retry = random_.chance(0.4)});
    Request& request = requests_.back();
    auto entry = gate_.enter(*workers_[request.worker], {.is_retry = request.retry},
                             [this, id](Turn turn) { hear(id, turn); });
    if (std::holds_alternative<Gate::In>(entry)) {
      EXPECT_LT(holders(), max_);
      EXPECT_TRUE(queue().empty());
      request.state = State::kInside;
    } else if (auto* waiting = std::get_if<Gate::WaitingRef>(&entry)) {
      EXPECT_EQ(holders(), max_);
      if (queue().size() == max_queue_) displace_newest_retry();
      request.waiting = *waiting;
      request.state = State::kWaiting;
    } else {
      EXPECT_EQ(holders(), max_);
      EXPECT_EQ(queue().size(), max_queue_);
      EXPECT_TRUE(request.retry || waiting_retries().empty());
    }
  }

  void displace_newest_retry() {
    ASSERT_FALSE(waiting_retries().empty());
    tell(waiting_retries().back(), Turn::kDisplaced);
  }

  void end_one() {
    const auto inside = in_state(State::kInside);
    if (inside.empty()) return;
    Request& request = requests_[inside[random_.below(inside.size())]];
    request.state = State::kGone;
    gate_.leave(*workers_[request.worker], {});
    pass_on();
  }

  void give_up() {
    auto candidates = in_state(State::kWaiting);
    const auto told = in_state(State::kTold);
    candidates.insert(candidates.end(), told.begin(), told.end());
    if (candidates.empty()) return;
    Request& request = requests_[candidates[random_.below(candidates.size())]];
    const bool had_slot = request.state == State::kTold && request.told == Turn::kAdmitted;
    request.state = State::kGone;
    gate_.abandon(*request.waiting);
    if (had_slot) pass_on();
  }

  // A slot is free: the queue kept by hand knows whose it is.
  void pass_on() {
    if (const auto order = queue(); !order.empty()) tell(order.front(), Turn::kAdmitted);
  }
  void tell(std::size_t id, Turn turn) {
    requests_[id].state = State::kTold;
    requests_[id].told = turn;
  }
  void hear(std::size_t id, Turn turn) {
    Request& request = requests_[id];
    EXPECT_EQ(request.state, State::kTold);
    EXPECT_EQ(request.told, turn);
    request.state = turn == Turn::kAdmitted ? State::kInside : State::kGone;
  }

  std::vector<std::size_t> in_state(State state) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i].state == state) out.push_back(i);
    }
    return out;
  }
  std::vector<std::size_t> waiting_retries() const {
    auto out = in_state(State::kWaiting);
    std::erase_if(out, [this](std::size_t i) { return !requests_[i].retry; });
    return out;
  }
  std::vector<std::size_t> queue() const {
    auto out = in_state(State::kWaiting);
    std::stable_partition(out.begin(), out.end(),
                          [this](std::size_t i) { return !requests_[i].retry; });
    return out;
  }
  std::size_t holders() const {
    std::size_t n = in_state(State::kInside).size();
    for (const std::size_t i : in_state(State::kTold)) n += requests_[i].told == Turn::kAdmitted;
    return n;
  }

  Random random_{GetParam()};
  const std::uint32_t max_ = static_cast<std::uint32_t>(1 + random_.below(6));
  const std::uint32_t max_queue_ = static_cast<std::uint32_t>(random_.below(6));
  stats::Registry registry_;
  stats::HttpStats stats_{registry_, "in"};
  std::vector<std::unique_ptr<http::Worker>> workers_;
  std::shared_ptr<Load> load_ = std::make_shared<Load>();
  Gate gate_{settings(max_, max_queue_), stats_.admission.limit, load_};
  std::vector<Request> requests_;
};

TEST_P(AnyOrder, NeverTooManyNoSlotLostAndTheOrderKept) {
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    step();
    EXPECT_LE(gate_.active(), max_);
    EXPECT_EQ(gate_.active(), holders());
    EXPECT_EQ(gate_.queued(), queue().size());
    EXPECT_EQ(load_->queued, queue().size());
  }
  while (!HasFailure() && (holders() > 0 || !queue().empty())) {
    for (const auto& worker : workers_) worker->loop.run_once();
    end_one();
  }
  EXPECT_EQ(gate_.active(), 0u);
  EXPECT_EQ(gate_.queued(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Gate, AnyOrder, testing::Range<std::uint64_t>(1, 41));

// --- Threads -------------------------------------------------------------------------------------

// A worker on a thread of its own: starts a number of requests, each of which gives up or stays for
// a while, and ends when all are over.
class BusyWorker {
 public:
  BusyWorker(unsigned index, Gate& gate, std::atomic<int>& inside, stats::Cells& cells)
      : worker_(index, 4, index, cells), gate_(gate), inside_(inside) {}

  void run() {
    while (started_ < kRequests || open_ > 0) {
      if (started_ < kRequests) start();
      worker_.loop.run_once();
    }
  }

  int admitted() const { return admitted_; }
  int most_seen() const { return most_seen_; }

 private:
  static constexpr int kRequests = 3'000;

  void start() {
    ++started_;
    ++open_;
    auto entry = gate_.enter(worker_, {.is_retry = worker_.random.chance(0.5)}, [this](Turn turn) {
      if (turn == Turn::kAdmitted) return stay();
      --open_;
    });
    if (std::holds_alternative<Gate::In>(entry)) return stay();
    auto* waiting = std::get_if<Gate::WaitingRef>(&entry);
    if (!waiting) {
      --open_;
    } else if (worker_.random.chance(0.3)) {
      worker_.loop.post([this, gone = *waiting] { give_up(*gone); });
    }
  }
  void give_up(Gate::Waiting& waiting) {
    if (gate_.withdraw(waiting)) --open_;
  }
  void stay() {
    ++admitted_;
    most_seen_ = std::max(most_seen_, ++inside_);
    worker_.loop.post([this] {
      --inside_;
      gate_.leave(worker_, {});
      --open_;
    });
  }

  http::Worker worker_;
  Gate& gate_;
  std::atomic<int>& inside_;
  int started_ = 0;
  int open_ = 0;
  int admitted_ = 0;
  int most_seen_ = 0;
};

TEST(Gate, IsExactForManyThreads) {
  constexpr int kMax = 3;
  stats::Registry registry;
  stats::HttpStats stats(registry, "in");
  Gate gate(settings(kMax, 8), stats.admission.limit, std::make_shared<Load>());
  std::atomic<int> inside{0};
  std::vector<std::unique_ptr<BusyWorker>> workers;
  for (unsigned i = 0; i < 4; ++i) {
    workers.push_back(std::make_unique<BusyWorker>(i, gate, inside, registry.new_cells()));
  }
  std::vector<std::thread> threads;
  for (const auto& worker : workers) threads.emplace_back([&worker] { worker->run(); });
  for (auto& thread : threads) thread.join();
  for (const auto& worker : workers) {
    EXPECT_GT(worker->admitted(), 0);
    EXPECT_LE(worker->most_seen(), kMax);
  }
  EXPECT_EQ(gate.active(), 0u);
  EXPECT_EQ(gate.queued(), 0u);
}

}  // namespace
}  // namespace damper::admission
