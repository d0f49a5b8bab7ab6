// The same conversations with HTTP/1 and HTTP/2 on either side: neither end can tell what the other
// speaks.
#include <gtest/gtest.h>

#include "tests/support/gauges.h"
#include "tests/support/grpc_wire.h"
#include "tests/support/h2_peer.h"
#include "tests/support/log_file.h"

namespace damper::tests {
namespace {

struct Protocols {
  bool client2, upstream2;
};

std::string show(const Protocols& p) {
  return std::string(p.client2 ? "h2" : "h1") + "_to_" + (p.upstream2 ? "h2" : "h1");
}

using Answerer = std::function<WireMessage(const WireMessage& request)>;

// What follows the start line in HTTP/1.
std::string http1_rest(const WireMessage& message, bool bodiless) {
  std::string out;
  for (const auto& [name, value] : message.fields) out += name + ": " + value + "\r\n";
  if (bodiless) return out + "\r\n";
  if (message.trailers.empty()) {
    return out + "content-length: " + std::to_string(message.body.size()) + "\r\n\r\n" +
           message.body;
  }
  out += "transfer-encoding: chunked\r\n\r\n" + chunk(message.body) + "0\r\n";
  for (const auto& [name, value] : message.trailers) out += name + ": " + value + "\r\n";
  return out + "\r\n";
}

ScriptedUpstream::Script script(bool http2, Answerer answer) {
  if (http2) {
    return h2_script([answer](H2Server& server, const H2Message& request, int) {
      server.answer(request.id, answer(request));
    });
  }
  return [answer](ScriptedUpstream& self, WireConnection& connection, int) {
    while (const auto request = self.receive(connection)) {
      const WireMessage response = answer(*request);
      const bool bodiless = response.status() == 204 || request->method() == "HEAD";
      connection.send("HTTP/1.1 " + std::to_string(response.status()) + " X\r\n" +
                      http1_rest(response, bodiless));
    }
  };
}

// The proxy between such a client and such an upstream.
class Chain {
 public:
  Chain(Protocols protocols, Answerer answer)
      : protocols_(protocols),
        upstream(script(protocols.upstream2, std::move(answer))),
        proxy(one_route(
            upstream.endpoint(), "", protocols.upstream2 ? "http: 2" : kWithTrailers,
            kWithTrailers + ", " + log.setting("format: \"%PROTOCOL% %RESPONSE_CODE%\\n\""))) {}

  WireMessage ask(const WireMessage& message) {
    if (protocols_.client2) {
      H2Client client(proxy.connect());
      return client.wait(client.open(message));
    }
    const bool bodiless = message.body.empty() && message.trailers.empty();
    return proxy.ask(message.method() + " " + message.target() + " HTTP/1.1\r\nhost: a\r\n" +
                     http1_rest(message, bodiless));
  }

 private:
  Protocols protocols_;

 public:
  LogFile log;
  ScriptedUpstream upstream;
  RunningProxy proxy;
};

class Pairs : public testing::TestWithParam<Protocols> {};
INSTANTIATE_TEST_SUITE_P(All, Pairs,
                         testing::Values(Protocols{false, false}, Protocols{false, true},
                                         Protocols{true, false}, Protocols{true, true}),
                         [](const auto& row) { return show(row.param); });

TEST_P(Pairs, GetPostAndEmptyAnswersArriveAsTheyWereSent) {
  struct Row {
    std::string method, body;
    int status;
    std::string answer;
  };
  Chain chain(GetParam(), [](const WireMessage& asked) {
    WireMessage out = response(asked.target() == "/204"   ? 204
                               : asked.target() == "/404" ? 404
                                                          : 200,
                               asked.target() == "/204" ? "" : "for " + asked.method());
    out.fields = {{"x-body", asked.body}};
    return out;
  });
  for (const Row& row : {Row{"GET", "", 200, "for GET"}, Row{"POST", "question", 200, "for POST"},
                         Row{"DELETE", "", 204, ""}, Row{"PUT", "put", 404, "for PUT"}}) {
    const WireMessage answer =
        chain.ask(request(row.method, "/" + std::to_string(row.status), row.body));
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.status(), row.status);
    EXPECT_EQ(answer.body, row.answer);
    EXPECT_EQ(answer.field("x-body"), row.body);
    EXPECT_EQ(chain.upstream.requests().back().field("host"), "a");
  }
  const std::string protocol = GetParam().client2 ? "HTTP/2" : "HTTP/1.1";
  EXPECT_EQ(chain.log.lines(4), (std::vector<std::string>{protocol + " 200", protocol + " 200",
                                                          protocol + " 204", protocol + " 404"}));
  expect_no_requests_left(chain.proxy);
}

TEST_P(Pairs, HeadHasALengthAndNoBody) {
  Chain chain(GetParam(), [](const WireMessage&) {
    WireMessage out = response(200);
    out.fields = {{"content-length", "1000"}};
    return out;
  });
  for (int i = 0; i < 2; ++i) {
    const WireMessage answer = chain.ask(request("HEAD"));
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.status(), 200);
    EXPECT_EQ(answer.field("content-length"), "1000");
    EXPECT_EQ(answer.body, "");
  }
}

TEST_P(Pairs, TrailersPassBothWays) {
  Chain chain(GetParam(), [](const WireMessage& asked) {
    WireMessage out = response(200, "answer");
    out.trailers = asked.trailers;
    return out;
  });
  WireMessage asked = request("POST", "/", "question");
  asked.trailers = {{"x-sum", "42"}};
  const WireMessage answer = chain.ask(asked);
  EXPECT_EQ(answer.body, "answer");
  EXPECT_EQ(answer.trailers, asked.trailers);
  EXPECT_EQ(chain.upstream.requests()[0].trailers, asked.trailers);
}

TEST_P(Pairs, AMegabyteGoesBothWays) {
  std::string megabyte;
  while (megabyte.size() < 1024 * 1024) megabyte += std::to_string(megabyte.size()) + " ";
  Chain chain(GetParam(), [](const WireMessage& asked) { return response(200, asked.body); });
  const WireMessage answer = chain.ask(request("POST", "/", megabyte));
  EXPECT_TRUE(answer.complete);
  EXPECT_TRUE(answer.body == megabyte);
}

TEST_P(Pairs, AHundredRequestsAtATimeGetTheirOwnAnswers) {
  Chain chain(GetParam(), [](const WireMessage& asked) { return response(200, asked.target()); });
  constexpr int kStreams = 100;
  const auto target = [](int i) { return "/" + std::to_string(i); };
  if (GetParam().client2) {
    H2Client client(chain.proxy.connect());
    std::vector<http::StreamId> ids;
    for (int i = 0; i < kStreams; ++i) ids.push_back(client.get(target(i)));
    for (int i = 0; i < kStreams; ++i) {
      EXPECT_EQ(client.wait(ids[static_cast<std::size_t>(i)]).body, target(i));
    }
  } else {
    std::vector<WireConnection> clients;
    for (int i = 0; i < kStreams; ++i) {
      clients.push_back(chain.proxy.connect());
      clients.back().send("GET " + target(i) + " HTTP/1.1\r\nhost: a\r\n\r\n");
    }
    for (int i = 0; i < kStreams; ++i) {
      EXPECT_EQ(clients[static_cast<std::size_t>(i)].read_response()->body, target(i));
    }
  }
  EXPECT_EQ(chain.upstream.requests().size(), 100u);
  expect_no_requests_left(chain.proxy);
}

}  // namespace
}  // namespace damper::tests
