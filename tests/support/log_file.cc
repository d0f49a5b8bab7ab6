#include "tests/support/log_file.h"

#include <atomic>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

#include "base/time.h"

namespace damper::tests {

TemporaryPath::TemporaryPath() {
  static std::atomic<int> number{0};
  text_ = testing::TempDir() + "damper-" + std::to_string(::getpid()) + "-" +
          std::to_string(number.fetch_add(1));
}

TemporaryPath::~TemporaryPath() { ::unlink(text_.c_str()); }

std::string LogFile::setting(const std::string& format) const {
  return "access_log: { path: \"" + path_.text() + "\", " + format + " }";
}

std::vector<std::string> LogFile::lines(std::size_t at_least) const {
  const auto until = Clock::now() + std::chrono::seconds(10);
  while (true) {
    std::vector<std::string> out;
    std::ifstream file(path_.text());
    for (std::string line; std::getline(file, line) && !file.eof();) out.push_back(line);
    if (out.size() >= at_least || Clock::now() > until) return out;
    std::this_thread::yield();
  }
}

}  // namespace damper::tests
