#include "bench/demo/leaf.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace damper::demo {
namespace {

// The number after "name=" in a query of one parameter; 0 if there is none.
double parameter(std::string_view path) {
  const std::size_t equals = path.find('=');
  return equals == path.npos ? 0
                             : std::strtod(std::string(path.substr(equals + 1)).c_str(), nullptr);
}

// The same for the same three numbers, and else as if drawn anew.
double draw(std::uint64_t seed, std::uint64_t request, std::uint64_t attempt) {
  const std::uint64_t of_request = Random(Random(seed).next() + request).next();
  return Random(of_request + attempt).unit();
}

}  // namespace

Leaf::Leaf(event::Loop& loop, Socket listening, const LeafOptions& options)
    : loop_(loop),
      options_(options),
      queue_(options.work),
      timer_(loop.timer([this] { advance(); })),
      start_(loop.now()),
      server_(loop, std::move(listening),
              [this](Server::Exchange exchange, const Request& request) {
                receive(exchange, request);
              }) {}

void Leaf::receive(Server::Exchange exchange, const Request& request) {
  advance();
  if (request.path.starts_with("/_")) {
    server_.answer(exchange, control(request.path));
  } else {
    work(exchange, request);
  }
  advance();
}

void Leaf::work(Server::Exchange exchange, const Request& request) {
  const WorkQueue::Job job = requests_++;
  jobs_.emplace(job, Job{exchange, fails(request)});
  queue_.add(job, loop_.now());
}

bool Leaf::fails(const Request& request) {
  const auto told = parse_number(value_of(request.fields, kRequestNumber));
  const std::uint64_t number = told.value_or(requests_);
  const std::uint32_t attempt = told ? ++attempts_[number] : 1;
  if (attempt > 1) retries_.push_back(milliseconds(loop_.now() - start_));
  return draw(options_.work.seed, number, attempt) < options_.fail_percent / 100;
}

void Leaf::advance() {
  for (const WorkQueue::Job ended : queue_.advance(loop_.now())) {
    const auto found = jobs_.find(ended);
    const Job job = found->second;
    jobs_.erase(found);
    finish(job);
  }
  const auto next = queue_.next();
  if (next) timer_->arm(std::max(*next - loop_.now(), Duration::zero()));
}

void Leaf::finish(const Job& job) {
  ++finished_;
  if (job.fails) ++failed_;
  const int status = job.fails ? options_.fail_status : options_.status;
  const bool there =
      status == 0 ? server_.reset(job.exchange)
                  : server_.answer(job.exchange, {status, std::string(options_.body_bytes, 'x')});
  if (!there) ++wasted_;
}

Response Leaf::control(std::string_view path) {
  const double value = parameter(path);
  if (path == "/_count") return {200, counts()};
  if (path == "/_retries") return {200, retries()};
  if (path.starts_with("/_stall?ms=")) {
    queue_.stall(loop_.now() + std::chrono::milliseconds(static_cast<std::int64_t>(value)));
  } else if (path.starts_with("/_scale?f=")) {
    queue_.scale(value, loop_.now());
  } else if (path.starts_with("/_fail?percent=")) {
    options_.fail_percent = value;
  } else {
    return {404, "no such control\n"};
  }
  return {200, "done\n"};
}

std::string Leaf::counts() const {
  std::string out;
  const auto add = [&](std::string_view name, std::uint64_t count) {
    out.append(out.empty() ? "{\"" : ", \"").append(name).append("\": ");
    append_number(out, count);
  };
  add("requests", requests_);
  add("failed", failed_);
  add("finished", finished_);
  add("wasted", wasted_);
  add("waiting", queue_.waiting());
  add("running", queue_.running());
  add("max_running", queue_.max_running());
  return out + "}\n";
}

std::string Leaf::retries() const {
  std::string out = "[";
  for (const std::int64_t at : retries_) {
    if (out.size() > 1) out += ", ";
    append_number(out, at);
  }
  return out + "]\n";
}

}  // namespace damper::demo
