#include "http/websocket.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace damper::http {
namespace {

// RFC 6455 §1.3.
constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr std::string_view kAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

RequestHead asked(Protocol protocol, std::string_view key = "") {
  RequestHead head;
  head.method = "GET";
  head.path = "/chat";
  head.protocol = protocol;
  head.upgrade = "websocket";
  head.fields.add("sec-websocket-version", "13");
  if (!key.empty()) head.fields.add("sec-websocket-key", key);
  return head;
}

ResponseHead answer(int status, std::string_view accept = "") {
  ResponseHead head;
  head.status = status;
  if (!accept.empty()) head.fields.add("sec-websocket-accept", accept);
  return head;
}

std::string key_of(const RequestHead& head) {
  return std::string(head.fields.find("sec-websocket-key").value_or("none"));
}

std::string accept_of(const ResponseHead& head) {
  return std::string(head.fields.find("sec-websocket-accept").value_or("none"));
}

TEST(WebSocket, TheAcceptOfAKeyIsThatOfTheRfc) { EXPECT_EQ(websocket_accept(kKey), kAccept); }

TEST(WebSocket, AKeyIsSixteenOctetsAndNeverTheSame) {
  Random random(1);
  const std::string key = websocket_key(random);
  ASSERT_TRUE(decode_base64(key));
  EXPECT_EQ(decode_base64(key)->size(), 16u);
  EXPECT_NE(websocket_key(random), key);
}

TEST(WebSocket, AHandshakeIsNeededOnlyForAnUpgradeBetweenVersions) {
  RequestHead plain = asked(Protocol::kHttp2);
  plain.upgrade = "";
  EXPECT_FALSE(WebSocketHandshake::is_needed(plain, false));
  for (const bool http2_upstream : {false, true}) {
    EXPECT_EQ(WebSocketHandshake::is_needed(asked(Protocol::kHttp11), http2_upstream),
              http2_upstream);
    EXPECT_EQ(WebSocketHandshake::is_needed(asked(Protocol::kHttp2), http2_upstream),
              !http2_upstream);
  }
}

TEST(WebSocket, AnHttp1ClientIsAnsweredByTheProxy) {
  Random random(1);
  const RequestHead head = asked(Protocol::kHttp11, kKey);
  const WebSocketHandshake handshake(head, random);
  EXPECT_EQ(key_of(handshake.request(head)), "none");
  EXPECT_EQ(handshake.request(head).fields.find("sec-websocket-version"), "13");
  EXPECT_EQ(key_of(head), kKey) << "another attempt may need it";
  const struct {
    ResponseHead head;
    std::string_view accept;
  } cases[] = {
      {answer(101), kAccept},
      {answer(101, "an upstream that is not asked"), kAccept},
      {answer(403), "none"},
  };
  for (const auto& c : cases) {
    ResponseHead head_of_answer;
    head_of_answer.status = c.head.status;
    head_of_answer.fields = c.head.fields.clone();
    EXPECT_TRUE(handshake.take_answer(head_of_answer));
    EXPECT_EQ(accept_of(head_of_answer), c.accept);
  }
}

TEST(WebSocket, AnHttp1ClientWithoutAKeyGetsNoAnswerToIt) {
  Random random(1);
  const RequestHead head = asked(Protocol::kHttp11);
  const WebSocketHandshake handshake(head, random);
  ResponseHead granted = answer(101);
  EXPECT_TRUE(handshake.take_answer(granted));
  EXPECT_EQ(accept_of(granted), "none");
}

TEST(WebSocket, TheUpstreamOfAnHttp2ClientHasToAnswerTheProxysKey) {
  Random random(1);
  const RequestHead head = asked(Protocol::kHttp2);
  const WebSocketHandshake handshake(head, random);
  const std::string key = key_of(handshake.request(head));
  EXPECT_EQ(key_of(handshake.request(head)), key) << "one key an attempt";
  EXPECT_EQ(key_of(head), "none");
  const std::string right = websocket_accept(key);
  const struct {
    int status;
    std::string_view accept;
    bool taken;
  } cases[] = {
      {101, right, true}, {101, "", false}, {101, kAccept, false}, {200, "", false},
      {204, "", false},   {302, "", true},  {426, "", true},       {503, "", true},
  };
  for (const auto& c : cases) {
    ResponseHead came = answer(c.status, c.accept);
    EXPECT_EQ(handshake.take_answer(came), c.taken) << c.status << " " << c.accept;
    EXPECT_EQ(accept_of(came), "none");
  }
}

TEST(WebSocket, AnHttp2ClientThatSendsAKeyJudgesTheAnswerItself) {
  Random random(1);
  const RequestHead head = asked(Protocol::kHttp2, "its own");
  const WebSocketHandshake handshake(head, random);
  EXPECT_EQ(key_of(handshake.request(head)), "its own");
  ResponseHead granted = answer(101, "whatever");
  EXPECT_TRUE(handshake.take_answer(granted));
  EXPECT_EQ(accept_of(granted), "whatever");
  ResponseHead no_upgrade = answer(200);
  EXPECT_FALSE(handshake.take_answer(no_upgrade));
}

}  // namespace
}  // namespace damper::http
