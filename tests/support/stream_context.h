// The stream of a filter under test: its time is moved by hand, and what it resumed with is kept.
#pragma once
#include <algorithm>
#include <vector>

#include "stream/filter.h"
#include "tests/support/manual_scheduler.h"

namespace damper::tests {

class TestStream final : public stream::StreamContext {
 public:
  event::Scheduler& scheduler() override { return time; }
  const route::RouteEntry* route() const override { return matched; }
  std::optional<TimePoint> deadline() const override { return access.deadline; }
  void tighten_deadline(TimePoint at) override {
    access.deadline = std::min(access.deadline.value_or(at), at);
  }
  void resume(stream::Verdict verdict) override { resumed.push_back(std::move(verdict)); }
  stream::AccessRecord& record() override { return access; }

  const route::RouteEntry* matched = nullptr;
  ManualScheduler time;
  stream::AccessRecord access;
  std::vector<stream::Verdict> resumed;
};

}  // namespace damper::tests
