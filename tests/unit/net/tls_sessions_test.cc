#include "net/tls_sessions.h"

#include <gtest/gtest.h>

namespace damper::net {
namespace {

SessionPtr session(int version) {
  SessionPtr out(SSL_SESSION_new());
  SSL_SESSION_set_protocol_version(out.get(), version);
  return out;
}

TEST(SessionStore, KeepsTheYoungestOfEachName) {
  SessionStore store(2);
  SSL_SESSION* last = nullptr;
  for (int i = 0; i < 3; ++i) {
    SessionPtr next = session(TLS1_3_VERSION);
    last = next.get();
    store.put("a", std::move(next));
  }
  EXPECT_EQ(store.take("b"), nullptr);
  EXPECT_EQ(store.take("a").get(), last);
  EXPECT_NE(store.take("a"), nullptr);
  EXPECT_EQ(store.take("a"), nullptr);
}

TEST(SessionStore, GivesOneOfTls13OnceAndOneOfTls12AgainAndAgain) {
  SessionStore store(1);
  store.put("old", session(TLS1_2_VERSION));
  store.put("new", session(TLS1_3_VERSION));
  EXPECT_NE(store.take("old"), nullptr);
  EXPECT_NE(store.take("old"), nullptr);
  EXPECT_NE(store.take("new"), nullptr);
  EXPECT_EQ(store.take("new"), nullptr);
}

TEST(SessionStore, KeepsNothingWhereNoneAreWanted) {
  SessionStore store(0);
  store.put("a", session(TLS1_3_VERSION));
  EXPECT_EQ(store.take("a"), nullptr);
}

TEST(SessionStore, IsBounded) {
  SessionStore store(1);
  for (int i = 0; i < 3000; ++i) store.put(std::to_string(i), session(TLS1_2_VERSION));
  int kept = 0;
  for (int i = 0; i < 3000; ++i) kept += store.take(std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(kept, 1024);
}

}  // namespace
}  // namespace damper::net
