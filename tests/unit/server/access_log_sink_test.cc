#include "server/access_log_sink.h"

#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace damper::server {
namespace {

// A file that does not exist yet and is removed at the end.
class TempPath {
 public:
  explicit TempPath(const std::string& name)
      : path_(::testing::TempDir() + "damper_" + std::to_string(::getpid()) + "_" + name) {
    std::remove(path_.c_str());
  }
  ~TempPath() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }
  std::string content() const {
    std::ostringstream out;
    out << std::ifstream(path_).rdbuf();
    return out.str();
  }

 private:
  std::string path_;
};

void append(AccessLogBuffer& buffer, AccessLogSink::FileId file, std::string_view line) {
  buffer.append(file, [line](std::string& out) { out.append(line); });
}

std::uint64_t counted(stats::Registry& registry, const std::string& leaf) {
  const std::string name = "access_log_file." + leaf;
  return registry.value(registry.counter(name, name, {}));
}

TEST(AccessLogSink, TheEndWritesWhatIsInTheBuffers) {
  TempPath log("end");
  stats::Registry registry;
  {
    AccessLogSink sink(registry);
    AccessLogBuffer buffer(sink, registry.new_cells());
    const auto file = sink.open(log.path());
    ASSERT_TRUE(file);
    append(buffer, *file, "one\n");
    append(buffer, *file, "two\n");
  }
  EXPECT_EQ(log.content(), "one\ntwo\n");
  EXPECT_EQ(counted(registry, "write_completed"), 1u);
}

TEST(AccessLogSink, APathIsOpenedOnce) {
  TempPath a("a"), b("b");
  stats::Registry registry;
  AccessLogSink sink(registry);
  EXPECT_EQ(*sink.open(a.path()), *sink.open(a.path()));
  EXPECT_NE(*sink.open(a.path()), *sink.open(b.path()));
}

TEST(AccessLogSink, AnExistingFileIsContinued) {
  TempPath log("old");
  std::ofstream(log.path()) << "before\n";
  stats::Registry registry;
  {
    AccessLogSink sink(registry);
    AccessLogBuffer buffer(sink, registry.new_cells());
    append(buffer, *sink.open(log.path()), "after\n");
  }
  EXPECT_EQ(log.content(), "before\nafter\n");
}

TEST(AccessLogSink, AFileThatCannotBeOpenedIsAnError) {
  stats::Registry registry;
  AccessLogSink sink(registry);
  const auto file = sink.open("/no/such/folder/access.log");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().detail,
            "cannot open access log /no/such/folder/access.log: No such file or directory");
}

TEST(AccessLogSink, LinesOfManyWorkersArriveWhole) {
  constexpr int kWorkers = 3, kLines = 5000;
  TempPath log("many");
  stats::Registry registry;
  {
    AccessLogSink sink(registry);
    const AccessLogSink::FileId file = *sink.open(log.path());
    std::vector<std::thread> workers;
    for (int w = 0; w < kWorkers; ++w) {
      workers.emplace_back([&, w] {
        const std::string line(40, static_cast<char>('a' + w));
        AccessLogBuffer buffer(sink, registry.new_cells());
        for (int i = 0; i < kLines; ++i) append(buffer, file, line + "\n");
      });
    }
    for (auto& w : workers) w.join();
  }
  std::istringstream lines(log.content());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    ASSERT_EQ(line, std::string(40, line.front()));
  }
  EXPECT_EQ(count, kWorkers * kLines);
}

TEST(AccessLogSink, AfterReopenLinesGoToANewFile) {
  TempPath log("rotated"), old("rotated.1");
  stats::Registry registry;
  {
    AccessLogSink sink(registry);
    AccessLogBuffer buffer(sink, registry.new_cells());
    const AccessLogSink::FileId file = *sink.open(log.path());
    append(buffer, file, "first\n");
    buffer.flush();
    ASSERT_EQ(std::rename(log.path().c_str(), old.path().c_str()), 0);
    append(buffer, file, "second\n");
    buffer.flush();  // handed over before: still to the old file
    sink.reopen();
    append(buffer, file, "third\n");
  }
  EXPECT_EQ(old.content(), "first\nsecond\n");
  EXPECT_EQ(log.content(), "third\n");
}

TEST(AccessLogSink, AFileThatCannotBeReopenedIsKept) {
  const std::string folder = ::testing::TempDir() + "damper_" + std::to_string(::getpid()) + "_d";
  ASSERT_EQ(::mkdir(folder.c_str(), 0700), 0);
  const std::string path = folder + "/log", moved = folder + ".moved";
  stats::Registry registry;
  {
    AccessLogSink sink(registry);
    AccessLogBuffer buffer(sink, registry.new_cells());
    const AccessLogSink::FileId file = *sink.open(path);
    ASSERT_EQ(std::rename(folder.c_str(), moved.c_str()), 0);
    sink.reopen();
    append(buffer, file, "kept\n");
  }
  std::ostringstream content;
  content << std::ifstream(moved + "/log").rdbuf();
  EXPECT_EQ(content.str(), "kept\n");
  EXPECT_EQ(counted(registry, "reopen_failed"), 1u);
  std::remove((moved + "/log").c_str());
  ::rmdir(moved.c_str());
}

TEST(AccessLogSink, WhatDoesNotFitTheQueueIsDroppedAndCountedInLines) {
  TempPath log("full");
  stats::Registry registry;
  {
    AccessLogSink sink(registry, {.queue_limit_bytes = 10});
    AccessLogBuffer buffer(sink, registry.new_cells());
    const AccessLogSink::FileId file = *sink.open(log.path());
    append(buffer, file, "123456\n");
    append(buffer, file, "789012\n");
    buffer.flush();
    append(buffer, file, "short\n");
  }
  EXPECT_EQ(log.content(), "short\n");
  EXPECT_EQ(counted(registry, "lines_dropped"), 2u);
}

TEST(AccessLogSink, AFullBufferIsHandedOverBeforeAnyFlush) {
  TempPath log("big");
  stats::Registry registry;
  AccessLogSink sink(registry, {.queue_limit_bytes = 10});
  AccessLogBuffer buffer(sink, registry.new_cells());
  const AccessLogSink::FileId file = *sink.open(log.path());
  append(buffer, file, std::string(64 * 1024 - 1, 'x'));
  EXPECT_EQ(counted(registry, "lines_dropped"), 0u);
  append(buffer, file, "x");
  EXPECT_EQ(counted(registry, "lines_dropped"), 2u);
}

TEST(AccessLogSink, AFailedWriteIsCounted) {
  stats::Registry registry;
  {
    AccessLogSink sink(registry);
    AccessLogBuffer buffer(sink, registry.new_cells());
    append(buffer, *sink.open("/dev/full"), "lost\n");
  }
  EXPECT_EQ(counted(registry, "write_failed"), 1u);
}

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0); }
  ~Pipe() { close_reader(), ::close(ends[1]); }
  void close_reader() {
    if (ends[0] >= 0) ::close(std::exchange(ends[0], -1));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends[1]); }
  int ends[2] = {-1, -1};
};

TEST(AccessLogSink, APipeThatNobodyReadsDoesNotKeepTheProcessFromEnding) {
  Pipe pipe;
  stats::Registry registry;
  {
    AccessLogSink sink(registry, {.stop_grace = Duration::zero()});
    AccessLogBuffer buffer(sink, registry.new_cells());
    append(buffer, *sink.open(pipe.path()), std::string(1024 * 1024, 'x'));
  }
  EXPECT_EQ(counted(registry, "write_failed"), 1u);
}

TEST(AccessLogSink, APipeWithoutAReaderIsAFailedWriteAndNoSignal) {
  Pipe pipe;
  stats::Registry registry;
  {
    AccessLogSink sink(registry);
    AccessLogBuffer buffer(sink, registry.new_cells());
    const auto file = sink.open(pipe.path());
    ASSERT_TRUE(file);
    pipe.close_reader();
    append(buffer, *file, "lost\n");
  }
  EXPECT_EQ(counted(registry, "write_failed"), 1u);
}

TEST(AccessLogSink, StandardOutputIsTheProcessesOwn) {
  ::testing::internal::CaptureStdout();
  stats::Registry registry;
  {
    AccessLogSink sink(registry);
    AccessLogBuffer buffer(sink, registry.new_cells());
    append(buffer, *sink.open("/dev/stdout"), "to stdout\n");
    sink.reopen();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "to stdout\n");
}

}  // namespace
}  // namespace damper::server
