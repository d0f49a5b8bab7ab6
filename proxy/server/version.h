#pragma once
#include <string_view>

namespace damper::server {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace damper::server
