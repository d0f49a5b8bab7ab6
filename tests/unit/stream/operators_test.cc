#include "stream/operators.h"

#include <gtest/gtest.h>

#include "net/tls_facts.h"
#include "net/transport.h"
#include "tests/support/sample_record.h"

namespace damper::stream {
namespace {

struct Call {
  const char* name;
  const char* argument;
  const char* value;  // null: none
};

std::optional<std::string> value_of(const char* name, const char* argument,
                                    const AccessRecord& record,
                                    std::optional<std::size_t> at_most = {}) {
  auto op = compile_operator(name, argument, at_most);
  if (!op) return "error: " + op.error().detail;
  std::string out = "|";
  if (!op->append(record, out)) {
    EXPECT_EQ(out, "|") << name << " appended something and said that it had nothing";
    return std::nullopt;
  }
  return out.substr(1);
}

TEST(Operator, EachReadsItsPartOfTheRecord) {
  tests::SampleRecord sample;
  set(sample.record.flags, Flag::kRetryLimit);
  set(sample.record.flags, Flag::kUpstreamTermination);
  sample.record.upstream_failure_reason = "refused";
  sample.record.retry_verdict = "limit";
  const Call calls[] = {
      {"ATTEMPTS", "", "10.0.0.1:80:3ms:503,10.0.0.2:80:5ms:200"},
      {"BYTES_RECEIVED", "", "12"},
      {"BYTES_SENT", "", "345"},
      {"COMMON_DURATION", "DS_RX_BEG:US_TX_BEG:us", "3000"},
      {"COMMON_DURATION", "US_TX_BEG:US_RX_BEG:ms", "17"},
      {"COMMON_DURATION", "DS_RX_END:DS_TX_END:ns", "23000000"},
      {"CONNECTION_ID", "", "3"},
      {"DEADLINE_LEFT", "", "75"},
      {"DOWNSTREAM_DIRECT_REMOTE_ADDRESS", "", "127.0.0.1:43210"},
      {"DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT", "", "127.0.0.1"},
      {"DOWNSTREAM_LOCAL_ADDRESS", "", "[::1]:8080"},
      {"DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT", "", "::1"},
      {"DOWNSTREAM_LOCAL_PORT", "", "8080"},
      {"DOWNSTREAM_REMOTE_ADDRESS", "", "127.0.0.1:43210"},
      {"DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT", "", "127.0.0.1"},
      {"DURATION", "", "25"},
      {"GRPC_STATUS", "", nullptr},
      {"IDEMPOTENCY_KEY", "", "key-1"},
      {"PROTOCOL", "", "HTTP/1.1"},
      {"REQUESTED_SERVER_NAME", "", nullptr},
      {"REQUEST_DURATION", "", "2"},
      {"RESPONSE_CODE", "", "200"},
      {"RESPONSE_CODE_DETAILS", "", "via_upstream"},
      {"RESPONSE_DURATION", "", "20"},
      {"RESPONSE_FLAGS", "", "URX,UC"},
      {"RESPONSE_FLAGS_LONG", "", "UpstreamRetryLimitExceeded,UpstreamConnectionTermination"},
      {"RESPONSE_TX_DURATION", "", "4"},
      {"RETRY_VERDICT", "", "limit"},
      {"ROUTE_NAME", "", "by-path"},
      {"START_TIME", "", "2026-01-02T03:04:05.678Z"},
      {"START_TIME", "%s.%3f", "1767323045.678"},
      {"STREAM_ID", "", "7"},
      {"UPSTREAM_CLUSTER", "", "orders"},
      {"UPSTREAM_CLUSTER_RAW", "", "orders"},
      {"UPSTREAM_CONNECTION_ID", "", "9"},
      {"UPSTREAM_HOST", "", "10.0.0.2:80"},
      {"UPSTREAM_HOSTS_ATTEMPTED", "", "10.0.0.1:80,10.0.0.2:80"},
      {"UPSTREAM_LOCAL_ADDRESS", "", "10.0.0.9:5000"},
      {"UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT", "", "10.0.0.9"},
      {"UPSTREAM_REQUEST_ATTEMPT_COUNT", "", "2"},
      {"UPSTREAM_TRANSPORT_FAILURE_REASON", "", "refused"},
      {"VIRTUAL_CLUSTER_NAME", "", nullptr},
      {"VIRTUAL_HOST_NAME", "", "all"},
  };
  for (const Call& c : calls) {
    const auto value = value_of(c.name, c.argument, sample.record);
    EXPECT_EQ(value, c.value ? std::optional<std::string>(c.value) : std::nullopt) << c.name;
  }
}

TEST(Operator, HeadersAreFoundWhereTheyStand) {
  tests::SampleRecord sample;
  const Call calls[] = {
      {"REQ", ":METHOD", "GET"},
      {"REQ", ":PATH", "/new/path?x=1"},
      {"REQ", ":AUTHORITY", "orders.example"},
      {"REQ", "Host", "orders.example"},
      {"REQ", ":SCHEME", "http"},
      {"REQ", "Content-Length", "12"},
      {"REQ", "X-ENVOY-ORIGINAL-PATH?:PATH", "/old/path?x=1"},
      {"REQ", "X-Request-Id", "id-1"},
      {"REQ", "NOT-THERE", nullptr},
      {"REQ", "NOT-THERE?USER-AGENT", "curl/8.0"},
      {"REQ", "NOT-THERE?NOR-THIS", nullptr},
      {"REQ", ":STATUS", nullptr},
      {"RESP", ":STATUS", "200"},
      {"RESP", "CONTENT-TYPE", "text/plain"},
      {"RESP", "CONTENT-LENGTH", "345"},
      {"RESP", "NOT-THERE", nullptr},
      {"TRAILER", "Checksum", "abc"},
      {"TRAILER", "NOT-THERE", nullptr},
  };
  for (const Call& c : calls) {
    const auto value = value_of(c.name, c.argument, sample.record);
    EXPECT_EQ(value, c.value ? std::optional<std::string>(c.value) : std::nullopt) << c.argument;
  }
}

TEST(Operator, AnOriginalPathThatWasNotRewrittenGivesWay) {
  tests::SampleRecord sample;
  sample.record.path_before_rewrite = {};
  EXPECT_EQ(value_of("REQ", "X-ENVOY-ORIGINAL-PATH?:PATH", sample.record), "/new/path?x=1");
}

TEST(Operator, AnEmptyRecordHasFewValues) {
  const AccessRecord record;
  for (const char* name :
       {"ATTEMPTS", "DEADLINE_LEFT", "DOWNSTREAM_LOCAL_PORT", "DOWNSTREAM_REMOTE_ADDRESS",
        "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT", "DURATION", "GRPC_STATUS", "PROTOCOL",
        "REQUEST_DURATION", "RESPONSE_CODE_DETAILS", "RETRY_VERDICT", "UPSTREAM_HOST",
        "UPSTREAM_HOSTS_ATTEMPTED"}) {
    EXPECT_EQ(value_of(name, "", record), std::nullopt) << name;
  }
  EXPECT_EQ(value_of("REQ", "X", record), std::nullopt);
  EXPECT_EQ(value_of("RESP", "X", record), std::nullopt);
  EXPECT_EQ(value_of("TRAILER", "X", record), std::nullopt);
  EXPECT_EQ(value_of("RESPONSE_CODE", "", record), "0");
  EXPECT_EQ(value_of("RESPONSE_FLAGS", "", record), "-");
  EXPECT_EQ(value_of("RESPONSE_FLAGS_LONG", "", record), "-");
  EXPECT_EQ(value_of("UPSTREAM_REQUEST_ATTEMPT_COUNT", "", record), "0");
}

TEST(Operator, GrpcStatusHasThreeForms) {
  tests::SampleRecord sample;
  sample.request.fields.add("content-type", "application/grpc");
  sample.trailers.add("grpc-status", "14");
  EXPECT_EQ(value_of("GRPC_STATUS", "", sample.record), "Unavailable");
  EXPECT_EQ(value_of("GRPC_STATUS", "SNAKE_STRING", sample.record), "UNAVAILABLE");
  EXPECT_EQ(value_of("GRPC_STATUS", "NUMBER", sample.record), "14");
  EXPECT_EQ(value_of("GRPC_STATUS_NUMBER", "", sample.record), "14");
  sample.trailers.set("grpc-status", "99");
  EXPECT_EQ(value_of("GRPC_STATUS", "", sample.record), "99");
}

// A connection of which only the handshake matters.
class TlsOnly final : public net::Transport {
 public:
  explicit TlsOnly(const net::TlsFacts* facts) : facts_(facts) {}
  Result<net::Progress> handshake(int) override { return net::Progress{}; }
  Result<net::Progress> read(int, char*, std::size_t) override { return net::Progress{}; }
  Result<net::Progress> write(int, Buffer&) override { return net::Progress{}; }
  void shutdown(int) override {}
  std::string_view alpn() const override { return {}; }
  const net::TlsFacts* tls() const override { return facts_; }

 private:
  const net::TlsFacts* facts_;
};

constexpr Call kTlsCalls[] = {
    {"DOWNSTREAM_LOCAL_DNS_SAN", "", "a.test,b.test"},
    {"DOWNSTREAM_LOCAL_SUBJECT", "", "CN=server"},
    {"DOWNSTREAM_LOCAL_URI_SAN", "", "spiffe://test/server"},
    {"DOWNSTREAM_PEER_DNS_SAN", "", "client.test"},
    {"DOWNSTREAM_PEER_SUBJECT", "", "CN=client,O=Test"},
    {"DOWNSTREAM_PEER_URI_SAN", "", "spiffe://test/a,spiffe://test/b"},
    {"DOWNSTREAM_TLS_CIPHER", "", "TLS_AES_128_GCM_SHA256"},
    {"DOWNSTREAM_TLS_VERSION", "", "TLSv1.3"},
    {"REQUESTED_SERVER_NAME", "", "a.test"},
};

TEST(Operator, TlsIsToldAsTheHandshakeFoundIt) {
  const net::TlsFacts facts{.version = "TLSv1.3",
                            .cipher = "TLS_AES_128_GCM_SHA256",
                            .server_name = "a.test",
                            .peer_subject = "CN=client,O=Test",
                            .peer_dns_sans = {"client.test"},
                            .peer_uri_sans = {"spiffe://test/a", "spiffe://test/b"},
                            .local_subject = "CN=server",
                            .local_dns_sans = {"a.test", "b.test"},
                            .local_uri_sans = {"spiffe://test/server"}};
  const TlsOnly transport(&facts);
  AccessRecord record;
  record.downstream_transport = &transport;
  for (const Call& c : kTlsCalls)
    EXPECT_EQ(value_of(c.name, c.argument, record), c.value) << c.name;
}

TEST(Operator, AnonymousAndPlainConnectionsHaveNoNames) {
  const net::TlsFacts anonymous{};
  const TlsOnly without_names(&anonymous), plain(nullptr);
  AccessRecord record;
  for (const net::Transport* transport :
       {static_cast<const net::Transport*>(&without_names),
        static_cast<const net::Transport*>(&plain), static_cast<const net::Transport*>(nullptr)}) {
    record.downstream_transport = transport;
    for (const Call& c : kTlsCalls) EXPECT_EQ(value_of(c.name, "", record), std::nullopt) << c.name;
  }
}

TEST(Operator, AttemptsWithoutAHostAreShown) {
  AccessRecord record;
  record.attempts = {{"", Duration{}, ""}, {"[::1]:80", std::chrono::milliseconds(2), "reset"}};
  EXPECT_EQ(value_of("ATTEMPTS", "", record), "-:0ms:-,[::1]:80:2ms:reset");
  EXPECT_EQ(value_of("UPSTREAM_HOSTS_ATTEMPTED", "", record), "[::1]:80");
}

TEST(Operator, UnixSocketsHaveNoPort) {
  AccessRecord record;
  record.downstream_local = "unix:/run/a:b.sock";
  EXPECT_EQ(value_of("DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT", "", record), "unix:/run/a:b.sock");
  EXPECT_EQ(value_of("DOWNSTREAM_LOCAL_PORT", "", record), std::nullopt);
}

TEST(Operator, APassedDeadlineIsNegativeAndARunningRequestShowsWhatItBeganWith) {
  tests::SampleRecord sample;
  sample.record.deadline = sample.record.start + std::chrono::milliseconds(20);
  EXPECT_EQ(value_of("DEADLINE_LEFT", "", sample.record), "-5");
  sample.record.end.reset();
  EXPECT_EQ(value_of("DEADLINE_LEFT", "", sample.record), "20");
}

TEST(Operator, ASpanThatRunsBackwardsHasNoValue) {
  tests::SampleRecord sample;
  EXPECT_EQ(value_of("COMMON_DURATION", "DS_TX_END:DS_RX_BEG:ms", sample.record), std::nullopt);
}

TEST(Operator, ALengthCutsTheValue) {
  tests::SampleRecord sample;
  EXPECT_EQ(value_of("REQ", "USER-AGENT", sample.record, 4), "curl");
  EXPECT_EQ(value_of("REQ", "USER-AGENT", sample.record, 400), "curl/8.0");
}

TEST(Operator, HostnameIsKnown) {
  EXPECT_FALSE(value_of("HOSTNAME", "", AccessRecord{}).value_or("").empty());
}

TEST(Operator, MistakesAreNamed) {
  const Call calls[] = {
      {"RESPONSE_COD", "", "error: unknown operator %RESPONSE_COD%, did you mean %RESPONSE_CODE%?"},
      {"QQQQQQ", "", "error: unknown operator %QQQQQQ%"},
      {"RESPONSE_CODE", "x", "error: operator %RESPONSE_CODE%: takes no argument"},
      {"REQ", "",
       "error: operator %REQ%: needs the name of a header, or two with '?' between them"},
      {"REQ", "A?B?C",
       "error: operator %REQ%: needs the name of a header, or two with '?' between them"},
      {"START_TIME", "%Q", "error: operator %START_TIME%: unknown time conversion \"%Q\""},
      {"GRPC_STATUS", "x",
       "error: operator %GRPC_STATUS%: takes CAMEL_STRING, SNAKE_STRING or NUMBER"},
      {"COMMON_DURATION", "DS_RX_BEG:ms",
       "error: operator %COMMON_DURATION%: needs (start:end:unit)"},
      {"COMMON_DURATION", "DS_RX_BEG:DS_TX_END:h",
       "error: operator %COMMON_DURATION%: unknown unit \"h\"; there are ms, us, ns"},
      {"COMMON_DURATION", "DS_RX_BEG:X:ms",
       "error: operator %COMMON_DURATION%: unknown point in time \"X\"; there are DS_RX_BEG, "
       "DS_RX_END, US_TX_BEG, US_RX_BEG, DS_TX_END"},
  };
  for (const Call& c : calls) EXPECT_EQ(value_of(c.name, c.argument, AccessRecord{}), c.value);
}

}  // namespace
}  // namespace damper::stream
