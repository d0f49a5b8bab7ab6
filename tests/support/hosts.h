// Upstream hosts for tests.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "upstream/host.h"

namespace damper::tests {

// 10.0.0.<number>:80
inline upstream::HostPtr host(int number, std::uint32_t weight = 1, std::uint32_t priority = 0) {
  const std::string ip = "10.0.0." + std::to_string(number);
  return std::make_shared<upstream::Host>(*net::Address::from_ip(ip, 80), ip, weight, priority);
}

inline upstream::Hosts hosts(int count) {
  upstream::Hosts out;
  for (int i = 1; i <= count; ++i) out.push_back(host(i));
  return out;
}

inline void eject_until(upstream::Host& host, TimePoint until) {
  host.health.ejected_until = until.time_since_epoch().count();
}

}  // namespace damper::tests
