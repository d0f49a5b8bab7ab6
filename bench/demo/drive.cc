#include "bench/demo/drive.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <optional>
#include <thread>

#include "bench/demo/http1.h"

namespace damper::demo {
namespace {

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

Result<Response> exchange(std::optional<Connection>& connection, const Load& load) {
  if (!connection) {
    TRY_ASSIGN(Socket socket, connect_to(load.target));
    connection.emplace(std::move(socket));
  }
  TRY(connection->write(Request{"GET", load.path}, load.target.host));
  return connection->read_response();
}

// Takes the next request that nobody has taken, until there is none.
Report send_requests(const Load& load, TimePoint start, std::atomic<std::uint64_t>& next) {
  Report out;
  std::optional<Connection> connection;
  for (std::uint64_t n = next++; n < load.requests; n = next++) {
    TimePoint due = Clock::now();
    if (load.rate > 0) {
      due = start + std::chrono::duration_cast<Duration>(
                        std::chrono::duration<double>(static_cast<double>(n) / load.rate));
      std::this_thread::sleep_until(due);
    }
    const auto response = exchange(connection, load);
    if (response) {
      ++out.statuses[response->status];
      out.latencies.push_back(Clock::now() - due);
    } else {
      ++out.errors;
    }
    if (!response || connection->closing()) connection.reset();
  }
  return out;
}

}  // namespace

void Report::merge(const Report& other) {
  for (const auto& [status, count] : other.statuses) statuses[status] += count;
  errors += other.errors;
  latencies.insert(latencies.end(), other.latencies.begin(), other.latencies.end());
}

Report drive(const Load& load) {
  const TimePoint start = Clock::now();
  std::atomic<std::uint64_t> next{0};
  std::vector<Report> parts(load.concurrency);
  std::vector<std::thread> threads;
  threads.reserve(parts.size());
  for (Report& part : parts) {
    threads.emplace_back([&] { part = send_requests(load, start, next); });
  }
  for (std::thread& thread : threads) thread.join();

  Report out;
  for (const Report& part : parts) out.merge(part);
  out.duration = Clock::now() - start;
  return out;
}

Duration percentile(const std::vector<Duration>& sorted, double percent) {
  if (sorted.empty()) return {};
  const double rank = std::ceil(percent / 100 * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::string to_json(Report report) {
  std::sort(report.latencies.begin(), report.latencies.end());
  std::string statuses;
  for (const auto& [status, count] : report.statuses) {
    statuses += (statuses.empty() ? "\"" : ", \"") + std::to_string(status) +
                "\": " + std::to_string(count);
  }
  const auto ms = [&](double percent) {
    return 1000 * seconds(percentile(report.latencies, percent));
  };
  char numbers[256];
  std::snprintf(numbers, sizeof numbers,
                "\"seconds\": %.3f, \"latency_ms\": {\"p50\": %.3f, \"p99\": %.3f, \"max\": %.3f}",
                seconds(report.duration), ms(50), ms(99), ms(100));
  return "{\"statuses\": {" + statuses + "}, \"errors\": " + std::to_string(report.errors) + ", " +
         numbers + "}\n";
}

}  // namespace damper::demo
