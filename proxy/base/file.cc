#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace damper {

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  char chunk[16 * 1024];
  while (text.size() <= most_bytes && (in.read(chunk, sizeof chunk) || in.gcount() > 0)) {
    text.append(chunk, static_cast<std::size_t>(in.gcount()));
  }
  const auto error = [](std::string why) {
    return Error{Errc::kInvalid, Side::kLocal, std::move(why)};
  };
  if (!in.is_open() || in.bad()) return error(std::strerror(errno != 0 ? errno : EIO));
  if (text.size() > most_bytes)
    return error("it is larger than " + std::to_string(most_bytes) + " bytes");
  return text;
}

}  // namespace damper
