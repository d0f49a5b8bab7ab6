#include "config/load/listener.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

TEST(Load, UnnamedListenersAreNamedByTheirAddress) {
  const Bootstrap b = load("listeners:\n- { address: \"127.0.0.1:80\", routes: [] }\n");
  EXPECT_EQ(b.listeners[0].name, "127.0.0.1:80");
  EXPECT_EQ(b.listeners[0].http.stat_prefix, "127.0.0.1:80");
}

}  // namespace
}  // namespace damper::config
