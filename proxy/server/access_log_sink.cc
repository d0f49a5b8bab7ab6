#include "server/access_log_sink.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace damper::server {
namespace {

stats::Counter counter(stats::Registry& registry, const std::string& leaf) {
  const std::string name = "access_log_file." + leaf;
  return registry.counter(name, name, {});
}

// 0: none of them.
int standard_fd(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  return 0;
}

bool is_regular(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

// Signals are main's; and a pipe that nobody reads must fail with EPIPE, not end the process.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

AccessLogSink::AccessLogSink(stats::Registry& registry, const Options& options)
    : options_(options),
      counters_{counter(registry, "write_completed"), counter(registry, "write_failed"),
                counter(registry, "reopen_failed"), counter(registry, "lines_dropped")},
      writer_cells_(registry.new_cells()),
      writer_([this] { run(); }) {}

AccessLogSink::~AccessLogSink() {
  stop_at_ = Clock::now() + options_.stop_grace;
  {
    std::lock_guard lock(mu_);
    stopping_ = true;
  }
  work_.notify_one();
  writer_.join();
  for (const auto& file : files_) {
    if (!file->standard) ::close(file->fd);
  }
}

Result<AccessLogSink::File> AccessLogSink::open_file(const std::string& path) {
  File out{.path = path, .fd = standard_fd(path)};
  out.standard = out.fd != 0;
  if (!out.standard) out.fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (out.fd < 0) {
    return Error{Errc::kSystem, Side::kLocal,
                 "cannot open access log " + path + ": " + std::strerror(errno)};
  }
  out.regular = is_regular(out.fd);
  return out;
}

Result<AccessLogSink::FileId> AccessLogSink::open(const std::string& path) {
  std::lock_guard lock(mu_);
  const auto known = std::find_if(files_.begin(), files_.end(),
                                  [&](const auto& file) { return file->path == path; });
  if (known != files_.end()) return static_cast<FileId>(known - files_.begin());
  auto file = open_file(path);
  if (!file) return std::move(file).error();
  files_.push_back(std::make_unique<File>(*std::move(file)));
  return files_.size() - 1;
}

void AccessLogSink::reopen() {
  {
    std::lock_guard lock(mu_);
    queue_.emplace_back();
  }
  work_.notify_one();
}

bool AccessLogSink::hand_over(FileId file, std::string lines) {
  {
    std::lock_guard lock(mu_);
    if (queued_bytes_ + lines.size() > options_.queue_limit_bytes) return false;
    queued_bytes_ += lines.size();
    queue_.push_back({.file = file, .lines = std::move(lines)});
  }
  work_.notify_one();
  return true;
}

void AccessLogSink::run() {
  block_signals();
  std::unique_lock lock(mu_);
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Item item = std::move(queue_.front());
    queue_.pop_front();
    std::vector<File*> files;
    for (const auto& file : files_) files.push_back(file.get());
    lock.unlock();
    handle(item, files);
    lock.lock();
    queued_bytes_ -= item.lines.size();
  }
}

void AccessLogSink::handle(const Item& item, const std::vector<File*>& files) {
  if (!item.file) {
    for (File* file : files) reopen_file(*file);
    return;
  }
  const bool ok = write_all(*files[*item.file], item.lines);
  writer_cells_.add(ok ? counters_.write_completed : counters_.write_failed);
}

void AccessLogSink::reopen_file(File& file) {
  if (file.standard) return;
  auto fresh = open_file(file.path);
  if (!fresh) {
    writer_cells_.add(counters_.reopen_failed);
    return;
  }
  ::close(file.fd);
  file.fd = fresh->fd;
  file.regular = fresh->regular;
}

// Pipes get no more at once than poll() promises to take, so that a reader that stops cannot keep
// the process from ending.
bool AccessLogSink::write_all(const File& file, std::string_view text) const {
  while (!text.empty()) {
    if (!file.regular && !wait_writable(file.fd)) return false;
    const std::size_t piece =
        file.regular ? text.size() : std::min<std::size_t>(text.size(), PIPE_BUF);
    const ssize_t n = ::write(file.fd, text.data(), piece);
    if (n < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool AccessLogSink::wait_writable(int fd) const {
  constexpr int kLookMs = 50;  // how soon an end of the process is noticed
  for (;;) {
    const bool late = stopping_ && Clock::now() >= stop_at_;
    pollfd wanted{.fd = fd, .events = POLLOUT, .revents = 0};
    const int ready = ::poll(&wanted, 1, late ? 0 : kLookMs);
    if (ready > 0) return true;  // or broken: write() says how
    if (late || (ready < 0 && errno != EINTR)) return false;
  }
}

AccessLogBuffer::Pending& AccessLogBuffer::pending_of(AccessLogSink::FileId file) {
  if (file >= pending_.size()) pending_.resize(file + 1);
  return pending_[file];
}

void AccessLogBuffer::hand_over(AccessLogSink::FileId file) {
  Pending full = std::exchange(pending_[file], {});
  if (!sink_.hand_over(file, std::move(full.text)))
    cells_.add(sink_.counters_.lines_dropped, full.lines);
}

void AccessLogBuffer::flush() {
  for (AccessLogSink::FileId file = 0; file < pending_.size(); ++file) {
    if (pending_[file].lines > 0) hand_over(file);
  }
}

}  // namespace damper::server
