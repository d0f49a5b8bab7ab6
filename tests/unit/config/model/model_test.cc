#include <gtest/gtest.h>

#include "config/model/common.h"
#include "config/model/retry.h"
#include "config/model/tls.h"

namespace damper::config {
namespace {

TEST(Endpoint, IsWrittenAsAUserWouldWriteIt) {
  EXPECT_EQ((Endpoint{.host = "127.0.0.1", .port = 80}.to_string()), "127.0.0.1:80");
  EXPECT_EQ((Endpoint{.host = "::1", .port = 80}.to_string()), "[::1]:80");
  EXPECT_EQ((Endpoint{.unix_path = "/run/app.sock"}.to_string()), "unix:/run/app.sock");
}

TEST(RetryOn, EveryTokenNamesACondition) {
  for (const RetryOnToken& t : retry_on_tokens())
    EXPECT_EQ(parse_retry_on(t.token), t.condition) << t.token;
  EXPECT_FALSE(parse_retry_on("5XX"));
  EXPECT_FALSE(parse_retry_on(""));
}

TEST(RetryConditions, AreASet) {
  RetryConditions conditions;
  EXPECT_TRUE(conditions.empty());
  conditions.add(RetryOn::kReset);
  EXPECT_TRUE(conditions.has(RetryOn::kReset));
  EXPECT_FALSE(conditions.has(RetryOn::k5xx));
  EXPECT_FALSE(conditions.any_grpc());
  conditions.add(*parse_retry_on("unavailable"));
  EXPECT_TRUE(conditions.any_grpc());
}

TEST(BackOff, EndsAtTenTimesItsBaseUnlessWritten) {
  EXPECT_EQ((BackOff{.base_interval = 25ms}.cap()), 250ms);
  EXPECT_EQ((BackOff{.base_interval = 25ms, .max_interval = 100ms}.cap()), 100ms);
}

TEST(TlsValidation, OfASecretIsLaidOverTheDefaults) {
  const TlsValidation defaults{.trusted_ca = PemSource{.file = "default.pem", .text = {}},
                               .names = {{.name = {.text = "a.test"}}},
                               .max_depth = 2};
  TlsValidation secret{.trusted_ca = PemSource{.file = "secret.pem", .text = {}}};
  TlsValidation both = combine(secret, defaults);
  EXPECT_EQ(both.trusted_ca->file, "secret.pem");
  EXPECT_EQ(both.names, defaults.names);
  EXPECT_EQ(both.max_depth, 2u);
  secret.trusted_ca.reset();
  EXPECT_EQ(combine(secret, defaults).trusted_ca->file, "default.pem");
  secret.system_roots = true;
  EXPECT_FALSE(combine(secret, defaults).trusted_ca);
}

}  // namespace
}  // namespace damper::config
