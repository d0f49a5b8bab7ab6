// Files of a test's own: a path, and an access log that is read as it grows.
#pragma once
#include <string>
#include <vector>

namespace damper::tests {

// For a file or a unix socket; what is there is removed in the end.
class TemporaryPath {
 public:
  TemporaryPath();
  ~TemporaryPath();
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class LogFile {
 public:
  // "access_log: { path: …, format: … }", a setting of a listener. `format` is YAML: quoted text
  // after "format: ", or a mapping after "json: ".
  std::string setting(const std::string& format) const;

  const std::string& path() const { return path_.text(); }

  // All lines, once there are at least so many; after ten seconds those that there are.
  std::vector<std::string> lines(std::size_t at_least) const;

 private:
  TemporaryPath path_;
};

}  // namespace damper::tests
