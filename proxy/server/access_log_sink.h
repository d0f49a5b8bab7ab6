// Where access log lines go. Workers collect lines in a buffer of their own and hand it over when
// it is full or when their loop says so; one thread writes. No worker waits for a disk or a pipe:
// when the writer falls behind, lines are dropped and counted.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "stats/stats.h"

namespace damper::server {

// The files of one process and the thread that writes them. Outlives every AccessLogBuffer.
class AccessLogSink {
 public:
  struct Options {
    std::size_t queue_limit_bytes = 16 * 1024 * 1024;  // handed over and not yet written
    Duration stop_grace = std::chrono::seconds(1);     // for a pipe that nobody reads
  };
  using FileId = std::size_t;

  // Counts under access_log_file. as Envoy does; a failed write is counted and its lines are lost.
  explicit AccessLogSink(stats::Registry& registry) : AccessLogSink(registry, Options{}) {}
  AccessLogSink(stats::Registry& registry, const Options& options);
  // Writes all that was handed over; what a full pipe does not take within stop_grace is lost.
  ~AccessLogSink();
  AccessLogSink(const AccessLogSink&) = delete;
  AccessLogSink& operator=(const AccessLogSink&) = delete;

  // The same path gives the same file, which stays open as long as the sink. "/dev/stdout" and
  // "/dev/stderr" are the process's own. Error: it cannot be opened.
  Result<FileId> open(const std::string& path);

  // After a rotation: what is handed over from now on goes to files opened anew by their paths. A
  // file that cannot be opened again is counted and kept as it was.
  void reopen();

 private:
  friend class AccessLogBuffer;
  struct File {
    std::string path;
    int fd = -1;  // after open() the writer's
    bool standard = false;
    bool regular = false;  // writes to it do not block for long
  };
  struct Item {
    std::optional<FileId> file;  // empty: open all files anew
    std::string lines;
  };
  struct Counters {
    stats::Counter write_completed, write_failed, reopen_failed, lines_dropped;
  };

  static Result<File> open_file(const std::string& path);
  bool hand_over(FileId file, std::string lines);  // false: there is no room
  void run();
  void handle(const Item& item, const std::vector<File*>& files);
  void reopen_file(File& file);
  bool write_all(const File& file, std::string_view text) const;
  bool wait_writable(int fd) const;

  const Options options_;
  const Counters counters_;
  stats::Cells& writer_cells_;

  std::mutex mu_;
  std::condition_variable work_;
  std::vector<std::unique_ptr<File>> files_;
  std::deque<Item> queue_;
  std::size_t queued_bytes_ = 0;

  TimePoint stop_at_{};  // read after stopping_
  std::atomic<bool> stopping_ = false;
  std::thread writer_;
};

// The lines of one worker. Its loop calls flush() every 250 ms; destroying it flushes.
class AccessLogBuffer {
 public:
  // `cells` are the worker's.
  AccessLogBuffer(AccessLogSink& sink, stats::Cells& cells) : sink_(sink), cells_(cells) {}
  ~AccessLogBuffer() { flush(); }
  AccessLogBuffer(const AccessLogBuffer&) = delete;
  AccessLogBuffer& operator=(const AccessLogBuffer&) = delete;

  // `write(std::string& out)` appends one line.
  template <class Write>
  void append(AccessLogSink::FileId file, Write write) {
    Pending& pending = pending_of(file);
    write(pending.text);
    ++pending.lines;
    if (pending.text.size() >= kFullBytes) hand_over(file);
  }
  void flush();

 private:
  static constexpr std::size_t kFullBytes = 64 * 1024;
  struct Pending {
    std::string text;
    std::size_t lines = 0;
  };

  Pending& pending_of(AccessLogSink::FileId file);
  void hand_over(AccessLogSink::FileId file);

  AccessLogSink& sink_;
  stats::Cells& cells_;
  std::vector<Pending> pending_;  // by file
};

}  // namespace damper::server
