#include "net/tls_facts.h"

#include <gtest/gtest.h>

namespace damper::net {
namespace {

TEST(TlsCounts, HaveNamesThatEnvoyGivesThem) {
  EXPECT_EQ(TlsCounts::name(TlsCounts::kHandshake), "handshake");
  EXPECT_EQ(TlsCounts::name(TlsCounts::kVersion13), "versions.TLSv1.3");
  EXPECT_EQ(TlsCounts::name(TlsCounts::kFailVerifySan), "fail_verify_san");
  EXPECT_EQ(TlsCounts::name(TlsCounts::kKeyRotationFailed), "key_rotation_failed");
}

TEST(TlsCounts, CountEachOnItsOwn) {
  TlsCounts counts;
  counts.add(TlsCounts::kHandshake);
  counts.add(TlsCounts::kHandshake);
  EXPECT_EQ(counts.get(TlsCounts::kHandshake), 2u);
  EXPECT_EQ(counts.get(TlsCounts::kSessionReused), 0u);
}

TEST(TlsCounts, AllowTenLinesASecond) {
  TlsCounts counts;
  const WallTime now{std::chrono::seconds(1000)};
  int allowed = 0;
  for (int i = 0; i < 50; ++i) allowed += counts.may_log(now) ? 1 : 0;
  EXPECT_EQ(allowed, 10);
  EXPECT_TRUE(counts.may_log(now + std::chrono::seconds(1)));
}

}  // namespace
}  // namespace damper::net
