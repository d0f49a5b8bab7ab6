#include "http/forwarding.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"

namespace damper::http {
namespace {

using config::HttpOptions;
using tests::request;
using tests::response;

constexpr Peer kStranger{.address = "9.9.9.9"};
constexpr Peer kApplication{.address = "127.0.0.1", .trusted = true};

struct Prepared {
  RequestHead head;
  Origin origin;
  std::string get(std::string_view name) const { return head.fields.joined(name).value_or("none"); }
};

Prepared prepared(const HttpOptions& options, const Peer& peer, tests::HeaderList headers = {}) {
  Prepared out{request("a.com", "/", headers), {}};
  Random random(1);
  out.origin =
      prepare_request(out.head, options, {.id = "order-1", .cluster = "order"}, peer, random);
  return out;
}

HttpOptions edge_options() {
  HttpOptions out;
  out.use_remote_address = true;
  return out;
}

TEST(ForwardedFor, ASidecarLeavesItAsItIs) {
  EXPECT_EQ(
      prepared({}, kStranger, {{"x-forwarded-for", "1.1.1.1, 2.2.2.2"}}).get("x-forwarded-for"),
      "1.1.1.1, 2.2.2.2");
  EXPECT_EQ(prepared({}, kStranger).get("x-forwarded-for"), "none");
}

TEST(ForwardedFor, WithUseRemoteAddressThePeerIsAppended) {
  HttpOptions options = edge_options();
  EXPECT_EQ(prepared(options, kStranger).get("x-forwarded-for"), "9.9.9.9");
  EXPECT_EQ(prepared(options, kStranger, {{"x-forwarded-for", "1.1.1.1"}}).get("x-forwarded-for"),
            "1.1.1.1,9.9.9.9");
  EXPECT_EQ(prepared(options, {.address = ""}).get("x-forwarded-for"), "none");
  options.skip_xff_append = true;
  EXPECT_EQ(prepared(options, kStranger).get("x-forwarded-for"), "none");
}

TEST(ForwardedFor, TheClientIsCountedFromTheRight) {
  const struct {
    bool use_remote_address;
    std::uint32_t hops;
    std::string_view list;
    std::string client;
  } kCases[] = {
      {false, 0, "1.1.1.1,2.2.2.2", "2.2.2.2"}, {false, 1, "1.1.1.1, 2.2.2.2", "1.1.1.1"},
      {false, 2, "1.1.1.1,2.2.2.2", ""},        {false, 0, "1.1.1.1,unknown", ""},
      {true, 0, "1.1.1.1,2.2.2.2", ""},         {true, 1, "1.1.1.1,2.2.2.2", "2.2.2.2"},
      {true, 2, "1.1.1.1,2.2.2.2", "1.1.1.1"},  {true, 3, "1.1.1.1,2.2.2.2", ""},
      {false, 0, "2001:db8::1", "2001:db8::1"},
  };
  for (const auto& c : kCases) {
    HttpOptions options;
    options.use_remote_address = c.use_remote_address;
    options.xff_num_trusted_hops = c.hops;
    EXPECT_EQ(prepared(options, kStranger, {{"x-forwarded-for", c.list}}).origin.client, c.client)
        << c.list;
  }
}

TEST(ForwardedProto, IsKeptUnlessWeAreTheFirstProxy) {
  const Peer tls{.address = "9.9.9.9", .tls = true};
  EXPECT_EQ(prepared({}, kStranger).get("x-forwarded-proto"), "http");
  EXPECT_EQ(prepared({}, tls).get("x-forwarded-proto"), "https");
  EXPECT_EQ(prepared({}, kStranger, {{"x-forwarded-proto", "https"}}).get("x-forwarded-proto"),
            "https");
  HttpOptions options = edge_options();
  EXPECT_EQ(prepared(options, kStranger, {{"x-forwarded-proto", "https"}}).get("x-forwarded-proto"),
            "http");
  options.xff_num_trusted_hops = 1;
  EXPECT_EQ(prepared(options, kStranger, {{"x-forwarded-proto", "https"}}).get("x-forwarded-proto"),
            "https");
}

TEST(ForwardedProto, GivesAnHttp1RequestItsScheme) {
  EXPECT_EQ(prepared({}, kStranger).head.scheme, "http");
  EXPECT_EQ(prepared({}, kStranger, {{"x-forwarded-proto", "https"}}).head.scheme, "https");
  EXPECT_EQ(prepared({}, {.address = "9.9.9.9", .tls = true}, {{"x-forwarded-proto", "gopher"}})
                .head.scheme,
            "https");
}

TEST(RequestId, IsGeneratedWhereThereIsNone) {
  EXPECT_EQ(prepared({}, kStranger).get("x-request-id").size(), 36u);
  EXPECT_EQ(prepared({}, kStranger, {{"x-request-id", ""}}).get("x-request-id").size(), 36u);
  EXPECT_EQ(prepared({}, kStranger, {{"x-request-id", "mine"}}).get("x-request-id"), "mine");
  EXPECT_TRUE(prepared({}, kStranger).origin.made_request_id);
  EXPECT_FALSE(prepared({}, kStranger, {{"x-request-id", "mine"}}).origin.made_request_id);
  HttpOptions off;
  off.generate_request_id = false;
  EXPECT_EQ(prepared(off, kStranger).get("x-request-id"), "none");
}

TEST(RequestId, OfAStrangerIsReplacedAtTheEdgeUnlessItIsToBePreserved) {
  HttpOptions options = edge_options();
  EXPECT_NE(prepared(options, kStranger, {{"x-request-id", "mine"}}).get("x-request-id"), "mine");
  EXPECT_EQ(prepared(options, kApplication, {{"x-request-id", "mine"}}).get("x-request-id"),
            "mine");
  options.preserve_external_request_id = true;
  EXPECT_EQ(prepared(options, kStranger, {{"x-request-id", "mine"}}).get("x-request-id"), "mine");
  EXPECT_EQ(prepared(options, kStranger).get("x-request-id").size(), 36u);
}

TEST(Trust, OnlyATrustedPeerMaySteer) {
  const tests::HeaderList steering = {{"x-envoy-retry-on", "5xx"},
                                      {"x-envoy-max-retries", "3"},
                                      {"x-envoy-upstream-alt-stat-name", "s"},
                                      {"x-envoy-other", "kept"}};
  const auto trusted = prepared({}, kApplication, steering);
  EXPECT_TRUE(trusted.origin.may_steer);
  EXPECT_EQ(trusted.get("x-envoy-retry-on"), "5xx");
  EXPECT_EQ(trusted.get("x-envoy-upstream-alt-stat-name"), "s");
  const auto stranger = prepared({}, kStranger, steering);
  EXPECT_FALSE(stranger.origin.may_steer);
  EXPECT_EQ(stranger.get("x-envoy-retry-on"), "none");
  EXPECT_EQ(stranger.get("x-envoy-max-retries"), "none");
  EXPECT_EQ(stranger.get("x-envoy-upstream-alt-stat-name"), "none");
  EXPECT_EQ(stranger.get("x-envoy-other"), "kept");
}

TEST(Trust, WordsThatOnlyShortenAreBelievedFromEverybody) {
  const auto p = prepared(
      {}, kStranger, {{"x-envoy-expected-rq-timeout-ms", "5"}, {"x-envoy-attempt-count", "2"}});
  EXPECT_EQ(p.get("x-envoy-expected-rq-timeout-ms"), "5");
  EXPECT_EQ(p.get("x-envoy-attempt-count"), "2");
}

TEST(Trust, APeerThatForwardsSpeaksForAStranger) {
  const auto forwards = prepared(edge_options(), kApplication,
                                 {{"x-forwarded-for", "1.1.1.1"}, {"x-envoy-retry-on", "5xx"}});
  EXPECT_FALSE(forwards.origin.may_steer);
  EXPECT_EQ(forwards.get("x-envoy-retry-on"), "none");
  EXPECT_TRUE(prepared({}, kApplication, {{"x-forwarded-for", "1.1.1.1"}}).origin.may_steer);
}

TEST(EnvoyInternal, IsNeverBelievedAndSaidOnlyOfTrustedPeers) {
  EXPECT_EQ(prepared({}, kApplication, {{"x-envoy-internal", "true"}}).get("x-envoy-internal"),
            "none");
  EXPECT_EQ(prepared(edge_options(), kApplication).get("x-envoy-internal"), "true");
  EXPECT_EQ(
      prepared(edge_options(), kStranger, {{"x-envoy-internal", "true"}}).get("x-envoy-internal"),
      "none");
}

TEST(EnvoyExternalAddress, NamesTheClientAtTheEdge) {
  EXPECT_EQ(prepared({}, kStranger).get("x-envoy-external-address"), "none");
  EXPECT_EQ(prepared(edge_options(), kApplication).get("x-envoy-external-address"), "none");
  EXPECT_EQ(prepared(edge_options(), kStranger).get("x-envoy-external-address"), "9.9.9.9");
  HttpOptions behind = edge_options();
  behind.xff_num_trusted_hops = 1;
  EXPECT_EQ(
      prepared(behind, kStranger, {{"x-forwarded-for", "1.1.1.1"}}).get("x-envoy-external-address"),
      "1.1.1.1");
}

TEST(UserAgent, NamesTheServiceIfTheClientDoesNotNameItself) {
  HttpOptions options;
  EXPECT_EQ(prepared(options, kStranger).get("user-agent"), "none");
  options.add_user_agent = true;
  const auto p = prepared(options, kStranger);
  EXPECT_EQ(p.get("user-agent"), "order");
  EXPECT_EQ(p.get("x-envoy-downstream-service-cluster"), "order");
  EXPECT_EQ(p.get("x-envoy-downstream-service-node"), "order-1");
  EXPECT_EQ(prepared(options, kStranger, {{"user-agent", "curl"}}).get("user-agent"), "curl");
}

TEST(Via, IsAppendedInBothDirections) {
  HttpOptions options;
  options.via = "1.1 damper";
  EXPECT_EQ(prepared(options, kStranger).get("via"), "1.1 damper");
  EXPECT_EQ(prepared(options, kStranger, {{"via", "1.0 a"}}).get("via"), "1.0 a, 1.1 damper");
  auto head = response(200, {{"via", "1.0 a"}});
  prepare_response(head, request("a", "/"), options);
  EXPECT_EQ(head.fields.find(HeaderId::kVia), "1.0 a, 1.1 damper");
}

TEST(ServerHeader, EveryTransformation) {
  using ServerHeader = HttpOptions::ServerHeader;
  const struct {
    ServerHeader transformation;
    std::string with, without;
  } kCases[] = {{ServerHeader::kOverwrite, "damper", "damper"},
                {ServerHeader::kAppendIfAbsent, "app", "damper"},
                {ServerHeader::kPassThrough, "app", "none"}};
  for (const auto& c : kCases) {
    HttpOptions options;
    options.server_header = c.transformation;
    auto with = response(200, {{"server", "app"}});
    auto without = response(200);
    prepare_response(with, request("a", "/"), options);
    prepare_response(without, request("a", "/"), options);
    EXPECT_EQ(with.fields.joined("server").value_or("none"), c.with);
    EXPECT_EQ(without.fields.joined("server").value_or("none"), c.without);
  }
}

TEST(RequestId, GoesIntoTheResponseIfWanted) {
  HttpOptions options;
  auto plain = response(200);
  prepare_response(plain, request("a", "/", {{"x-request-id", "r"}}), options);
  EXPECT_FALSE(plain.fields.has(HeaderId::kXRequestId));
  options.always_set_request_id_in_response = true;
  auto told = response(200, {{"x-request-id", "the application's"}});
  prepare_response(told, request("a", "/", {{"x-request-id", "r"}}), options);
  EXPECT_EQ(told.fields.joined("x-request-id"), "r");
}

TEST(Edge, EndsWhatProxiesTellEachOther) {
  auto in = request("a", "/",
                    {{"x-damper-retry", "owner"},
                     {"x-envoy-attempt-count", "2"},
                     {"grpc-timeout", "1S"},
                     {"x-deadline", "1"},
                     {"x-envoy-expected-rq-timeout-ms", "5"},
                     {"accept", "*"}});
  strip_request_at_edge(in.fields);
  EXPECT_EQ(tests::text(in.fields), "accept: *\n");
  auto out =
      response(503, {{"x-damper-retry", "final"}, {"x-damper-other", "1"}, {"retry-after", "1"}});
  strip_response_at_edge(out.fields);
  EXPECT_EQ(tests::text(out.fields), "retry-after: 1\n");
}

TEST(Uuid, HasVersionAndVariantAndNeverRepeats) {
  Random random(7);
  const std::string first = uuid_v4(random);
  EXPECT_NE(first, uuid_v4(random));
  for (int i = 0; i < 100; ++i) {
    const std::string id = uuid_v4(random);
    ASSERT_EQ(id.size(), 36u);
    for (const std::size_t dash : {8u, 13u, 18u, 23u}) EXPECT_EQ(id[dash], '-');
    EXPECT_EQ(id[14], '4');
    EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef-"), std::string::npos);
  }
}

}  // namespace
}  // namespace damper::http
