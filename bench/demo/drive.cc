#include "bench/demo/drive.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <queue>

#include "base/random.h"
#include "bench/demo/client.h"
#include "bench/demo/leaf.h"

namespace damper::demo {
namespace {

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
Duration from_seconds(double s) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(s));
}

// A tracing id in the form of its field. Numbers from 1, as an id may not be 0.
std::string tracing_id(const std::string& field, std::uint64_t seed, std::uint64_t number) {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(number + 1));
  const std::string id = digits;
  const std::string span = id.substr(16);
  if (field == "traceparent") return "00-" + id + "-" + span + "-01";
  return field == "b3" ? id + "-" + span + "-1" : id;
}

class Driver {
 public:
  explicit Driver(const Load& load)
      : load_(load),
        client_(loop_, load.target),
        timer_(loop_.timer([this] { send_due(); })),
        random_(load.seed) {}

  Report run() {
    start_ = loop_.now();
    if (load_.rate > 0) {
      plan_arrivals();
    } else {
      for (std::uint32_t i = 0; i < load_.concurrency; ++i) plan_next(start_);
    }
    if (!planned_.empty()) loop_.post([this] { send_due(); });
    if (open_ > 0) loop_.run();
    report_.duration = Clock::now() - start_;
    return std::move(report_);
  }

 private:
  struct Try {
    TimePoint at;
    std::uint64_t number;  // of the request
    std::uint32_t tries_before = 0;
    TimePoint due{};  // of the request's first try
    bool operator>(const Try& other) const { return at > other.at; }
  };

  void plan_arrivals() {
    for (const Duration offset : arrivals(load_)) plan_request(start_ + offset);
  }
  void plan_next(TimePoint at) {
    if (next_number_ < load_.requests) plan_request(at);
  }
  void plan_request(TimePoint due) {
    ++open_;
    planned_.push({due, next_number_++, 0, due});
  }

  void send_due() {
    while (!planned_.empty() && planned_.top().at <= loop_.now()) {
      const Try next = planned_.top();
      planned_.pop();
      send(next);
    }
    if (!planned_.empty()) timer_->arm(planned_.top().at - loop_.now());
  }

  void send(const Try& what) {
    Request request{"GET", load_.path, load_.fields};
    request.fields.push_back({std::string(kRequestNumber), std::to_string(what.number)});
    if (!load_.trace_field.empty()) {
      request.fields.push_back(
          {load_.trace_field, tracing_id(load_.trace_field, load_.seed, what.number)});
    }
    if (load_.tell_patience) {
      request.fields.push_back(
          {"x-envoy-expected-rq-timeout-ms", std::to_string(milliseconds(load_.patience))});
    }
    client_.send(request, load_.patience,
                 [this, what](const Result<Response>& result) { finish(what, result); });
  }

  void finish(const Try& what, const Result<Response>& result) {
    const bool good = result && result->status == 200;
    if (!good && what.tries_before < load_.retries) {
      retry(what);
    } else {
      record(what, result);
      --open_;
      if (load_.rate == 0) plan_next(Clock::now());
    }
    if (open_ == 0) return loop_.stop();
    send_due();
  }

  void retry(Try what) {
    ++report_.retries;
    ++what.tries_before;
    const double share = load_.wait_alike ? 1 : random_.unit();
    what.at = loop_.now() + from_seconds(share * seconds(load_.retry_wait));
    planned_.push(what);
  }

  void record(const Try& what, const Result<Response>& result) {
    const Duration took = Clock::now() - what.due;
    const bool good = result && result->status == 200;
    if (result) {
      ++report_.statuses[result->status];
      report_.latencies.push_back(took);
    } else {
      ++report_.errors;
      if (result.error().code == Errc::kTimeout) ++report_.timeouts;
    }
    if (!good) report_.failure_latencies.push_back(took);

    const auto second = static_cast<std::size_t>(seconds(what.due - start_));
    if (report_.offered.size() <= second) {
      report_.offered.resize(second + 1);
      report_.good.resize(second + 1);
    }
    ++report_.offered[second];
    if (good) ++report_.good[second];
  }

  const Load load_;
  event::Loop loop_;
  Client client_;
  std::unique_ptr<event::Timer> timer_;
  Random random_;
  TimePoint start_{};
  std::uint64_t next_number_ = 0;
  std::uint64_t open_ = 0;  // requests that have not ended
  std::priority_queue<Try, std::vector<Try>, std::greater<>> planned_;
  Report report_;
};

// "name": {"p50": …, "p99": …, "max": …}, in ms.
std::string latency_json(const char* name, std::vector<Duration>& latencies) {
  std::sort(latencies.begin(), latencies.end());
  const auto ms = [&](double percent) { return 1000 * seconds(percentile(latencies, percent)); };
  char out[160];
  std::snprintf(out, sizeof out, "\"%s\": {\"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f}", name,
                ms(50), ms(99), ms(100));
  return out;
}

std::string series_json(const char* name, const std::vector<std::uint64_t>& counts) {
  std::string numbers;
  for (const std::uint64_t count : counts) {
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(count);
  }
  return "\"" + std::string(name) + "\": [" + numbers + "]";
}

}  // namespace

std::vector<Duration> arrivals(const Load& load) {
  // Not the generator of the waits, or they would be related to the arrivals.
  Random random(~load.seed);
  std::vector<Duration> out;
  double at = 0;
  for (std::uint64_t n = 0; n < load.requests; ++n) {
    out.push_back(from_seconds(at));
    at += (load.poisson ? -std::log(1 - random.unit()) : 1) / load.rate;
  }
  return out;
}

Report drive(const Load& load) { return Driver(load).run(); }

Duration percentile(const std::vector<Duration>& sorted, double percent) {
  if (sorted.empty()) return {};
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::string to_json(Report report) {
  std::string statuses;
  for (const auto& [status, count] : report.statuses) {
    statuses += (statuses.empty() ? "\"" : ", \"") + std::to_string(status) +
                "\": " + std::to_string(count);
  }
  char duration[32];
  std::snprintf(duration, sizeof duration, "%.3f", seconds(report.duration));
  return "{\"statuses\": {" + statuses + "}, \"errors\": " + std::to_string(report.errors) +
         ", \"timeouts\": " + std::to_string(report.timeouts) +
         ", \"retries\": " + std::to_string(report.retries) + ", \"seconds\": " + duration + ", " +
         latency_json("latency_ms", report.latencies) + ", " +
         latency_json("failure_ms", report.failure_latencies) + ", " +
         series_json("offered", report.offered) + ", " + series_json("good", report.good) + "}\n";
}

}  // namespace damper::demo
