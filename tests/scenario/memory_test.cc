// Bodies flow through: a reader that is slow holds its sender back, not our memory.
#include "server/memory.h"

#include <gtest/gtest.h>

#include "tests/support/running_proxy.h"
#include "tests/support/scripted_upstream.h"

namespace damper::tests {
namespace {

constexpr std::size_t kBodyBytes = 100'000'000;
constexpr std::uint64_t kGrowthBytes = 32'000'000;  // sanitizers keep what is freed for a while

// A sanitizer keeps what is freed for a while and shadows the rest: then only the answers are
// judged.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsOurs = false;
#else
constexpr bool kMemoryIsOurs = true;
#endif

TEST(Memory, ALargeResponseToASlowReaderIsNotHeld) {
  ScriptedUpstream upstream([](ScriptedUpstream& self, WireConnection& connection, int) {
    self.receive(connection);
    connection.send("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(kBodyBytes) +
                    "\r\n\r\n");
    const std::string piece(100'000, 'x');
    for (std::size_t sent = 0; sent < kBodyBytes; sent += piece.size()) connection.send(piece);
  });
  RunningProxy proxy(one_route(upstream.endpoint(), "timeout: 0s"));
  WireConnection client = proxy.connect();
  const std::uint64_t before = server::resident_bytes();
  client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  std::size_t received = 0;
  std::uint64_t most = 0;
  while (received < kBodyBytes) {
    const std::string piece = client.read_some();
    ASSERT_FALSE(piece.empty()) << "after " << received;
    received += piece.size();
    most = std::max(most, server::resident_bytes());
  }
  if (kMemoryIsOurs) {
    EXPECT_LT(most - std::min(most, before), kGrowthBytes);
  }
}

TEST(Memory, ALargeUploadToAnUpstreamThatDoesNotReadIsNotHeld) {
  ScriptedUpstream upstream([](ScriptedUpstream&, WireConnection& connection, int) {
    connection.readable_within(10'000);
    connection.wait_for_close();  // reads all of it, but only once the proxy's buffers are full
  });
  RunningProxy proxy(one_route(upstream.endpoint(), retry("5xx")));
  WireConnection client = proxy.connect();
  const std::uint64_t before = server::resident_bytes();
  client.send("PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: " + std::to_string(kBodyBytes) +
              "\r\n\r\n");
  const std::string piece(100'000, 'x');
  std::uint64_t most = 0;
  for (std::size_t sent = 0; sent < kBodyBytes; sent += piece.size()) {
    ASSERT_TRUE(client.send(piece));
    most = std::max(most, server::resident_bytes());
  }
  if (kMemoryIsOurs) {
    EXPECT_LT(most - std::min(most, before), kGrowthBytes);
  }
  EXPECT_EQ(proxy.stat("cluster.app.retry_or_shadow_abandoned"), 1);
}

}  // namespace
}  // namespace damper::tests
