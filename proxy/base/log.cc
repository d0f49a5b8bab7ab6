#include "base/log.h"

#include <array>
#include <memory>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace damper::log {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"trace", "debug",    "info", "warning",
                                                    "error", "critical", "off"};

spdlog::level::level_enum spdlog_level(Level level) {
  return static_cast<spdlog::level::level_enum>(level);  // the same numbers
}

}  // namespace

std::string_view name(Level level) { return kNames[static_cast<std::size_t>(level)]; }

bool parse_level(std::string_view text, Level& out) {
  if (text == "warn") text = "warning";
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] != text) continue;
    out = static_cast<Level>(i);
    return true;
  }
  return false;
}

bool open(std::string_view path) {
  try {  // spdlog reports a file that cannot be opened by throwing
    auto logger = path.empty() ? spdlog::stderr_logger_mt("damper")
                               : spdlog::basic_logger_mt("damper", std::string(path));
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    logger->flush_on(spdlog::level::warn);
    spdlog::set_default_logger(std::move(logger));
    spdlog::flush_every(std::chrono::seconds(1));
    return true;
  } catch (const spdlog::spdlog_ex&) {
    return false;
  }
}

void set_level(Level level) { spdlog::set_level(spdlog_level(level)); }

Level level() { return static_cast<Level>(spdlog::get_level()); }

void write(Level level, fmt::string_view format, fmt::format_args args) {
  spdlog::default_logger_raw()->log(spdlog_level(level), fmt::vformat(format, args));
}

}  // namespace damper::log
