#include "net/tls_openssl.h"

#include <gtest/gtest.h>

namespace damper::net {
namespace {

void fail() {
  ERR_raise(ERR_LIB_SSL, SSL_R_CERTIFICATE_VERIFY_FAILED);
  ERR_raise(ERR_LIB_SSL, SSL_R_BAD_LENGTH);
}

TEST(OpenSslErrors, AreToldAsEnvoyTellsThemTheFirstOneAlone) {
  fail();
  const std::string text = take_tls_error("");
  EXPECT_TRUE(text.starts_with("TLS_error:|")) << text;
  EXPECT_TRUE(text.ends_with(":SSL_routines::CERTIFICATE_VERIFY_FAILED:TLS_error_end")) << text;
  EXPECT_EQ(ERR_peek_error(), 0u);
  fail();
  EXPECT_TRUE(take_tls_error("it has expired").ends_with("FAILED:it_has_expired:TLS_error_end"));
}

TEST(OpenSslErrors, HaveAReasonAlone) {
  fail();
  EXPECT_EQ(take_openssl_reason(), "certificate verify failed");
  EXPECT_EQ(ERR_peek_error(), 0u);
  fail();
  forget_errors();
  EXPECT_EQ(ERR_peek_error(), 0u);
}

}  // namespace
}  // namespace damper::net
