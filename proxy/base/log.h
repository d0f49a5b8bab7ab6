// Lines for operators: `event key=value …`, lower case, no sentences. Levels: error = somebody must
// act, warn = degraded (rate-limited by the caller, with a counter), info = lifecycle, debug = a
// connection, trace = an event.
#pragma once
#include <atomic>
#include <fmt/core.h>
#include <string_view>

namespace damper::log {

enum class Level : int { kTrace, kDebug, kInfo, kWarn, kError, kCritical, kOff };

std::string_view name(Level level);
bool parse_level(std::string_view text,
                 Level& out);  // Envoy's words: trace debug info warning error critical off

// Opens the log: standard error, or a file to append to. Called once, before other threads start.
bool open(std::string_view path);
void set_level(Level level);
Level level();
void write(Level level, fmt::string_view format, fmt::format_args args);

template <class... Args>
void line(Level at, fmt::format_string<Args...> format, Args&&... args) {
  if (at >= level()) write(at, format, fmt::make_format_args(args...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  line(Level::kError, format, std::forward<Args>(args)...);
}
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  line(Level::kWarn, format, std::forward<Args>(args)...);
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  line(Level::kInfo, format, std::forward<Args>(args)...);
}
template <class... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  line(Level::kDebug, format, std::forward<Args>(args)...);
}

}  // namespace damper::log
