// WebSockets between HTTP/1 and HTTP/2 (RFC 6455, RFC 8441): what each side sees of the handshake,
// and that bytes go both ways after it.
#include "http/websocket.h"

#include <gtest/gtest.h>

#include "tests/support/gauges.h"
#include "tests/support/h2_peer.h"
#include "tests/support/log_file.h"

namespace damper::tests {
namespace {

using FieldList = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kKey = "sec-websocket-key";
constexpr const char* kAccept = "sec-websocket-accept";
constexpr const char* kClientsKey = "dGhlIHNhbXBsZSBub25jZQ==";  // RFC 6455 §1.3
constexpr const char* kItsAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

struct Protocols {
  bool client2, upstream2;
};

std::string show(const Protocols& p) {
  return std::string(p.client2 ? "h2" : "h1") + "_to_" + (p.upstream2 ? "h2" : "h1");
}

std::string lines_of(const FieldList& fields) {
  std::string out;
  for (const auto& [name, value] : fields) out += name + ": " + value + "\r\n";
  return out;
}

std::string switching(const FieldList& fields) {
  return "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n" +
         lines_of(fields) + "\r\n";
}

std::string right_accept(const WireMessage& asked) {
  return http::websocket_accept(asked.field(kKey).value_or(""));
}

// What the upstream's answer has besides its status.
using Granted = std::function<FieldList(const WireMessage& asked)>;

// Grants the upgrade, greets, and answers "ping" with "pong", as raw bytes.
ScriptedUpstream::Script chat(bool http2, Granted granted) {
  if (!http2) {
    return [granted](ScriptedUpstream& self, WireConnection& connection, int) {
      const auto asked = self.receive(connection);
      EXPECT_EQ(asked->field("upgrade"), "websocket");
      connection.send(switching(granted(*asked)));
      connection.send("greeting");
      EXPECT_EQ(connection.read_some(), "ping");
      connection.send("pong");
      connection.wait_for_close();
    };
  }
  return h2_script(
      [granted](H2Server& server, const H2Message& asked, int) {
        EXPECT_EQ(asked.field("upgrade"), "websocket");
        WireMessage answer = response(101);
        answer.fields = granted(asked);
        server.answer(asked.id, answer, false);
        server.send_body(asked.id, "greeting", false);
        EXPECT_EQ(server.read_some(asked.id), "ping");
        server.send_body(asked.id, "pong", false);
        server.wait(asked.id);
      },
      {.allow_connect = true});
}

// The proxy between such a client and such an upstream.
class Chain {
 public:
  Chain(Protocols protocols, ScriptedUpstream::Script script, const std::string& route = "")
      : protocols_(protocols),
        upstream(std::move(script)),
        proxy(one_route(
            upstream.endpoint(), route,
            protocols.upstream2 ? "http: 2, http2_protocol_options: { allow_connect: true }" : "",
            "upgrade_configs: [ { upgrade_type: websocket } ], " +
                log.setting(
                    "format: \"%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\\n\""))) {}

  // The answer to an upgrade, over which the client then chats if it has been granted.
  WireMessage upgrade(const FieldList& fields) {
    return protocols_.client2 ? upgrade2(fields) : upgrade1(fields);
  }

 private:
  WireMessage upgrade1(const FieldList& fields) {
    WireConnection client = proxy.connect();
    client.send("GET /chat HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n" +
                lines_of(fields) + "\r\n");
    const auto answer = client.read_response();
    if (!answer) return {};
    if (answer->status() == 101) {
      EXPECT_EQ(client.read_some(), "greeting");
      client.send("ping");
      EXPECT_EQ(client.read_some(), "pong");
    }
    return *answer;
  }

  WireMessage upgrade2(const FieldList& fields) {
    H2Client client(proxy.connect());
    WireMessage asked = request("GET", "/chat");
    asked.fields = fields;
    asked.fields.emplace_back("upgrade", "websocket");
    const http::StreamId id = client.open(asked, false);
    if (!client.wait_for_head(id)) return {};
    WireMessage answer = client.message(id);
    if (answer.status() != 101) return client.wait(id);
    EXPECT_EQ(client.read_some(id), "greeting");
    client.send_body(id, "ping", false);
    EXPECT_EQ(client.read_some(id), "pong");
    client.reset(id);
    return answer;
  }

  Protocols protocols_;

 public:
  LogFile log;
  ScriptedUpstream upstream;
  RunningProxy proxy;
};

class WebSockets : public testing::TestWithParam<Protocols> {};
INSTANTIATE_TEST_SUITE_P(All, WebSockets,
                         testing::Values(Protocols{false, false}, Protocols{false, true},
                                         Protocols{true, false}, Protocols{true, true}),
                         [](const auto& row) { return show(row.param); });

// Each side does what its protocol asks of it.
TEST_P(WebSockets, CarryBytesBothWaysAfterAHandshakeThatBothSidesUnderstand) {
  const auto [client2, upstream2] = GetParam();
  const Granted granted = [](const WireMessage& asked) {
    return FieldList{{kAccept, right_accept(asked)}};
  };
  const Granted nothing = [](const WireMessage&) { return FieldList{}; };
  Chain chain(GetParam(), chat(upstream2, upstream2 ? nothing : granted));
  FieldList fields = {{"sec-websocket-version", "13"}, {"sec-websocket-protocol", "a, b"}};
  if (!client2) fields.emplace_back(kKey, kClientsKey);
  const WireMessage answer = chain.upgrade(fields);
  EXPECT_EQ(answer.status(), 101);
  EXPECT_EQ(answer.field(kAccept), client2 ? std::nullopt : std::optional<std::string>(kItsAccept));

  const WireMessage asked = chain.upstream.requests().at(0);
  EXPECT_EQ(asked.count(kKey), upstream2 ? 0u : 1u);
  EXPECT_EQ(asked.field("sec-websocket-version"), "13");
  EXPECT_EQ(asked.field("sec-websocket-protocol"), "a, b");
  if (!client2 && !upstream2) {
    EXPECT_EQ(asked.field(kKey), kClientsKey);
  }
  expect_no_requests_left(chain.proxy);
}

// Nobody's business but theirs, right or wrong.
TEST_P(WebSockets, TheHandshakeOfTwoThatSpeakTheSameVersionIsNotTouched) {
  const auto [client2, upstream2] = GetParam();
  if (client2 != upstream2) return;
  Chain chain(GetParam(), chat(upstream2, [](const WireMessage&) {
                return FieldList{{kAccept, "not what the RFC says"}};
              }));
  const WireMessage answer = chain.upgrade({{kKey, "no key"}});
  EXPECT_EQ(answer.status(), 101);
  EXPECT_EQ(answer.field(kAccept), "not what the RFC says");
  EXPECT_EQ(chain.upstream.requests().at(0).field(kKey), "no key");
}

TEST(WebSocket, AnHttp2ClientThatSendsAKeyGetsTheUpstreamsAnswerToIt) {
  Chain chain({.client2 = true, .upstream2 = false}, chat(false, [](const WireMessage&) {
                return FieldList{{kAccept, "whatever"}};
              }));
  const WireMessage answer = chain.upgrade({{kKey, "its own"}});
  EXPECT_EQ(answer.field(kAccept), "whatever");
  EXPECT_EQ(chain.upstream.requests().at(0).field(kKey), "its own");
}

TEST(WebSocket, AnHttp1UpstreamThatDoesNotAnswerTheKeyHasFailed) {
  const std::string answers[] = {
      switching({{kAccept, kItsAccept}}),  // to another key
      switching({}),
      http_response(200, "an ordinary answer"),
      "HTTP/1.1 204 No Content\r\n\r\n",
  };
  for (const std::string& answer : answers) {
    Chain chain({.client2 = true, .upstream2 = false}, always(answer));
    const WireMessage got = chain.upgrade({});
    EXPECT_EQ(got.status(), 502) << answer;
    EXPECT_EQ(chain.log.lines(1),
              std::vector<std::string>{
                  "502 UPE "
                  "upstream_reset_before_response_started{protocol_error|websocket.handshake}"});
    expect_no_requests_left(chain.proxy);
  }
}

TEST_P(WebSockets, ARefusalIsDelivered) {
  const auto [client2, upstream2] = GetParam();
  Chain chain(GetParam(), upstream2
                              ? h2_script([](H2Server& server, const H2Message& asked,
                                             int) { server.answer(asked.id, response(403, "no")); },
                                          {.allow_connect = true})
                              : always(http_response(403, "no")));
  const WireMessage answer = chain.upgrade({{kKey, kClientsKey}});
  EXPECT_EQ(answer.status(), 403);
  EXPECT_EQ(answer.body, "no");
  EXPECT_EQ(answer.field(kAccept), std::nullopt);
}

TEST(WebSocket, EachAttemptHasAKeyOfItsOwn) {
  Chain chain(
      {.client2 = true, .upstream2 = false},
      [](ScriptedUpstream& self, WireConnection& connection, int number) {
        if (number > 0) {
          return chat(false, [](const WireMessage& asked) {
            return FieldList{{kAccept, right_accept(asked)}};
          })(self, connection, number);
        }
        self.receive(connection);
        connection.send(switching({{kAccept, "wrong"}}));
        connection.wait_for_close();
      },
      retry("5xx"));
  EXPECT_EQ(chain.upgrade({}).status(), 101);
  const auto requests = chain.upstream.requests();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].count(kKey), 1u);
  EXPECT_EQ(requests[1].count(kKey), 1u);
  EXPECT_NE(requests[0].field(kKey), requests[1].field(kKey));
}

}  // namespace
}  // namespace damper::tests
