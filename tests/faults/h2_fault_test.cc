// HTTP/2 upstreams that break off at each frame of a response, after it or in its middle, in every
// way there is: the client gets exactly one outcome, and nothing is left.
#include <atomic>
#include <gtest/gtest.h>

#include "tests/support/gauges.h"
#include "tests/support/h2_peer.h"
#include "tests/support/h2_wire.h"

namespace damper::tests {
namespace {

constexpr http::StreamId kId = 1;  // each connection takes one request
constexpr std::uint8_t kUnknownType = 0xee;

const std::string kBody = "first second";

struct Frame {
  std::string name, bytes;
};

// A response of all kinds of frames; HPACK by hand (RFC 7541 §6): `:status: 200`, two literals.
const std::vector<Frame>& frames() {
  static const std::vector<Frame> all = {
      {"SETTINGS", h2::frame(NGHTTP2_SETTINGS, 0, 0, std::string("\0\3\0\0\0\x64", 6))},
      {"HEADERS",
       h2::frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, kId, std::string("\x88\0\3x-a\1b", 8))},
      {"DATA", h2::frame(NGHTTP2_DATA, 0, kId, kBody.substr(0, 6))},
      {"PING", h2::frame(NGHTTP2_PING, 0, 0, "12345678")},
      {"WINDOW_UPDATE", h2::frame(NGHTTP2_WINDOW_UPDATE, 0, kId, std::string("\0\0\1\0", 4))},
      {"unknown", h2::frame(kUnknownType, 0, kId, "whatever")},
      {"DATA again", h2::frame(NGHTTP2_DATA, 0, kId, kBody.substr(6))},
      {"trailers", h2::frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM,
                             kId, std::string("\0\5x-sum\1z", 9))},
  };
  return all;
}

std::string whole_response() {
  std::string out;
  for (const Frame& frame : frames()) out += frame.bytes;
  return out;
}

const std::vector<Frame>& endings() {
  static const std::vector<Frame> all = {
      {"close", ""},
      {"RST_STREAM", h2::frame(NGHTTP2_RST_STREAM, 0, kId, std::string("\0\0\0\x8", 4))},
      {"GOAWAY of all", h2::goaway(kId, NGHTTP2_NO_ERROR)},
      {"GOAWAY of none", h2::goaway(0, NGHTTP2_NO_ERROR)},
      {"GOAWAY with an error", h2::goaway(0, NGHTTP2_INTERNAL_ERROR)},
      {"garbage", std::string(100, '\xff')},
  };
  return all;
}

// Reads the preface and frames until one is HEADERS.
bool read_request(WireConnection& connection) {
  constexpr std::size_t kPreface = 24;
  constexpr std::size_t kFrameHead = 9;
  std::string came;
  for (std::size_t at = kPreface;;) {
    while (came.size() < at + kFrameHead) {
      const std::string more = connection.read_some();
      if (more.empty()) return false;
      came += more;
    }
    const auto byte = [&](std::size_t i) {
      return static_cast<std::size_t>(static_cast<unsigned char>(came[at + i]));
    };
    if (byte(3) == NGHTTP2_HEADERS) return true;
    at += kFrameHead + (byte(0) << 16 | byte(1) << 8 | byte(2));
  }
}

// Breaks off one response as it is told, and sends those after it whole.
class BreakingUpstream {
 public:
  BreakingUpstream()
      : upstream_([this](ScriptedUpstream&, WireConnection& connection, int) {
          if (!read_request(connection)) return;
          connection.send(broken_.exchange(false) ? response_ : whole_response());
          connection.half_close();
          connection.wait_for_close();
        }) {}

  void break_next(const std::string& response) {
    response_ = response;
    broken_ = true;
  }
  std::string endpoint() const { return upstream_.endpoint(); }

 private:
  std::string response_;  // while broken_ is set, and not written then
  std::atomic<bool> broken_{false};
  ScriptedUpstream upstream_;
};

enum class Outcome { kWhole, kErrorStatus, kCut, kWrong };

Outcome judge(const WireMessage& answer) {
  if (!answer.complete) return Outcome::kCut;
  if (answer.status() == 502 || answer.status() == 503) return Outcome::kErrorStatus;
  return answer.status() == 200 && answer.body == kBody ? Outcome::kWhole : Outcome::kWrong;
}

// One that has begun cannot be repeated, one that has ended is not disturbed by what comes then.
Outcome expected(std::size_t frames_sent, bool retries) {
  if (frames_sent == frames().size()) return Outcome::kWhole;
  if (frames_sent >= 2) return Outcome::kCut;
  return retries ? Outcome::kWhole : Outcome::kErrorStatus;
}

// More than one: the first may meet the connection that is about to close.
const std::string kRetries =
    "timeout: 5s, retry_policy: { retry_on: \"5xx,reset\", num_retries: 3, retry_back_off: { "
    "base_interval: 1ms } }";

class H2Faults : public testing::TestWithParam<std::tuple<bool, bool>> {};
INSTANTIATE_TEST_SUITE_P(All, H2Faults, testing::Combine(testing::Bool(), testing::Bool()),
                         [](const auto& row) {
                           return std::string(std::get<0>(row.param) ? "Http2" : "Http1") +
                                  (std::get<1>(row.param) ? "WithRetries" : "Alone");
                         });

TEST_P(H2Faults, EveryBreakHasOneOutcome) {
  const auto& [client2, retries] = GetParam();
  LogFile log;
  auto upstream = std::make_unique<BreakingUpstream>();
  RunningProxy proxy(one_route(upstream->endpoint(), retries ? kRetries : "timeout: 5s",
                               "http: 2, circuit_breakers: { thresholds: [ { retry_budget: { "
                               "disabled: true } } ] }",
                               log.setting("format: \"%RESPONSE_CODE%\\n\"")));
  const auto outcome_of = [&](const std::string& response) {
    upstream->break_next(response);
    if (!client2) return judge(proxy.get());
    H2Client client(proxy.connect());
    return judge(client.wait(client.get()));
  };
  for (const Frame& ending : endings()) {
    std::string sent;
    for (std::size_t i = 0; i < frames().size(); ++i) {
      const Frame& frame = frames()[i];
      SCOPED_TRACE(ending.name + " at " + frame.name);
      for (const std::size_t part : {std::size_t{5}, frame.bytes.size() - 2}) {
        EXPECT_EQ(outcome_of(sent + frame.bytes.substr(0, part) + ending.bytes),
                  expected(i, retries))
            << "after " << part << " bytes";
        ASSERT_TRUE(proxy.stat_becomes("cluster.app.upstream_cx_active", 0));
      }
      sent += frame.bytes;
      EXPECT_EQ(outcome_of(sent + ending.bytes), expected(i + 1, retries));
      ASSERT_TRUE(proxy.stat_becomes("cluster.app.upstream_cx_active", 0));
    }
  }
  upstream.reset();
  expect_nothing_left(proxy, log);
}

}  // namespace
}  // namespace damper::tests
