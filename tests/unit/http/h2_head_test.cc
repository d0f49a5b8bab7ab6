#include "http/h2_head.h"

#include <gtest/gtest.h>
#include <string>

#include "tests/support/h2_wire.h"
#include "tests/support/transcript.h"

namespace damper::http::h2 {
namespace {

using tests::h2::FieldList;
using tests::h2::request_fields;

// A head as text; one that is refused by its status and detail.
std::string read_request(const FieldList& fields, const H2Options& options = {}) {
  Block block;
  for (const auto& [name, value] : fields) {
    if (!block.add(options, name, value)) return "hopeless";
  }
  const auto head = block.to_request();
  if (const auto* const refusal = std::get_if<const Block::Refusal*>(&head))
    return std::to_string((*refusal)->status) + " " + std::string((*refusal)->detail);
  EXPECT_EQ(std::get<RequestHead>(head).protocol, Protocol::kHttp2);
  return text_of(std::get<RequestHead>(head));
}

std::string get(const FieldList& more, const H2Options& options = {}) {
  return read_request(request_fields("GET", more), options);
}

std::string path(const std::string& method, const std::string& text) {
  return read_request(
      {{":method", method}, {":scheme", "http"}, {":authority", "a"}, {":path", text}});
}

std::string authority(const std::string& pseudo, const std::string& host) {
  FieldList fields = {{":method", "GET"}, {":scheme", "https"}, {":path", "/"}};
  if (!pseudo.empty()) fields.emplace_back(":authority", pseudo);
  if (!host.empty()) fields.emplace_back("host", host);
  return read_request(fields);
}

TEST(H2Head, PseudoHeadersBecomeMembers) {
  EXPECT_EQ(read_request({{":method", "PUT"},
                          {":scheme", "https"},
                          {":authority", "a.test:8443"},
                          {":path", "/p?q"},
                          {"x-a", "1"},
                          {"x-a", ""}}),
            "PUT https://a.test:8443 /p?q x-a=1; x-a=;");
  EXPECT_EQ(read_request({{":method", "CONNECT"}, {":authority", "a.test:443"}}),
            "CONNECT http://a.test:443 ");
}

TEST(H2Head, OnlyWhatHttp1CouldWriteIsAPath) {
  const std::string invalid = "400 http2.invalid_path";
  for (const char* good : {"/", "/a/../%2e", "/?a=b&c", "//x", "/\"<>\\^`{|}"})
    EXPECT_EQ(path("GET", good), std::string("GET http://a ") + good);
  for (const char* bad :
       {"", "a", "*", "?q", "http://a/", "/a b", "/a\tb", "/a#b", "/\x7f", "/a\r", "/\xc3\xa9"})
    EXPECT_EQ(path("GET", bad), invalid) << bad;
  EXPECT_EQ(path("OPTIONS", "*"), "OPTIONS http://a *");
  EXPECT_EQ(path("OPTIONS", "**"), invalid);
}

TEST(H2Head, AuthorityAndHostAreOneThing) {
  struct Case {
    const char* authority;
    const char* host;
    const char* read;
  };
  const Case cases[] = {{"a.test", "", "GET https://a.test /"},
                        {"", "a.test", "GET https://a.test /"},
                        {"a.test", "a.test", "GET https://a.test /"},
                        {"a.test", "A.Test", "GET https://a.test /"},
                        {"[::1]:80", "", "GET https://[::1]:80 /"},
                        {"a.test", "b.test", "400 http2.invalid_authority"},
                        {"a.test", "a.test:80", "400 http2.invalid_authority"},
                        {"", "", "400 http2.invalid_authority"},
                        {"a/b", "", "400 http2.invalid_authority"},
                        {"user@a.test", "", "400 http2.invalid_authority"},
                        {"", "a b", "400 http2.invalid_authority"}};
  for (const Case& c : cases)
    EXPECT_EQ(authority(c.authority, c.host), c.read) << c.authority << "|" << c.host;
}

TEST(H2Head, CookieCrumbsAreJoinedWhereTheFirstStood) {
  EXPECT_EQ(get({{"cookie", "a=1"}, {"x", "y"}}), "GET http://a.test / cookie=a=1; x=y;");
  EXPECT_EQ(get({{"cookie", "a=1"}, {"x", "y"}, {"cookie", "b=2"}, {"cookie", "c=3; d=4"}}),
            "GET http://a.test / x=y; cookie=a=1; b=2; c=3; d=4;");
}

TEST(H2Head, FramingAndExpectationAreMembers) {
  EXPECT_EQ(get({{"content-length", "5"}}), "GET http://a.test / length 5");
  EXPECT_EQ(get({{"expect", "100-Continue"}}), "GET http://a.test / expects");
  EXPECT_EQ(get({{"expect", "100-continue"}}, {.proxy_100_continue = true}),
            "GET http://a.test / expects expect=100-continue;");
  EXPECT_EQ(get({{"expect", "a miracle"}}), "GET http://a.test / expect=a miracle;");
}

TEST(H2Head, FieldsOfAnotherConnectionAreDropped) {
  EXPECT_EQ(get({{"http2-settings", "AAMA"}, {"trailer", "x-sum"}, {"te", "trailers"}}),
            "GET http://a.test / te=trailers;");
}

TEST(H2Head, ExtendedConnectIsAnUpgrade) {
  FieldList connect = request_fields("CONNECT");
  connect.emplace(connect.begin() + 1, ":protocol", "WebSocket");
  EXPECT_EQ(read_request(connect), "GET http://a.test / upgrade websocket");
  connect[1].second = "connect-udp";
  EXPECT_EQ(read_request(connect), "501 http2.unknown_protocol");
}

TEST(H2Head, UnderscoresAreTreatedAsConfigured) {
  const FieldList fields = {{"x_a", "1"}, {"x-b", "2"}};
  EXPECT_EQ(get(fields), "GET http://a.test / x_a=1; x-b=2;");
  EXPECT_EQ(get(fields, {.headers_with_underscores = Underscores::kDropHeader}),
            "GET http://a.test / x-b=2;");
  EXPECT_EQ(get(fields, {.headers_with_underscores = Underscores::kRejectRequest}),
            "400 http2.unexpected_underscore");
}

TEST(H2Head, BytesOfNamesAndValuesAreLimited) {
  std::size_t pseudo = 0;
  for (const auto& [name, value] : request_fields("GET")) pseudo += name.size() + value.size();
  const H2Options options{.max_head_bytes = pseudo + 100};
  EXPECT_EQ(get({{"x", std::string(99, 'v')}}, options).substr(0, 3), "GET");
  EXPECT_EQ(get({{"x", std::string(100, 'v')}}, options), "431 http2.headers_too_large");
  EXPECT_EQ(get({{"x", std::string(101, 'v')}, {"y", ""}}, options), "431 http2.headers_too_large");
  EXPECT_EQ(get({{"x", std::string(99, 'v')}, {"y", ""}}, options), "431 http2.headers_too_large");
}

TEST(H2Head, ABlockMuchLargerThanAllowedIsHopeless) {
  const H2Options options{.max_head_bytes = 1000};
  EXPECT_EQ(get({{"x", std::string(3900, 'v')}}, options), "431 http2.headers_too_large");
  EXPECT_EQ(get({{"x", std::string(3900, 'v')}, {"y", std::string(200, 'v')}}, options),
            "hopeless");
}

TEST(H2Head, FieldsAreCountedWithoutPseudoHeaders) {
  const H2Options options{.max_headers = 2};
  EXPECT_EQ(get({{"a", "1"}, {"b", "2"}}, options), "GET http://a.test / a=1; b=2;");
  EXPECT_EQ(get({{"a", "1"}, {"b", "2"}, {"c", "3"}}, options), "431 http2.too_many_headers");
}

std::string read_response(const FieldList& fields, std::string_view upgrade = {}) {
  Block block;
  for (const auto& [name, value] : fields) EXPECT_TRUE(block.add({}, name, value));
  return text_of(block.to_response(upgrade));
}

TEST(H2Head, ResponsesHaveAStatusAndPerhapsALength) {
  EXPECT_EQ(read_response({{":status", "200"}, {"content-length", "5"}, {"x", "y"}}),
            "200 length 5 x=y;");
  EXPECT_EQ(read_response({{":status", "304"}, {"content-length", "5"}}), "304 length 5");
  EXPECT_EQ(read_response({{":status", "204"}, {"content-length", "5"}}), "204");
  EXPECT_EQ(read_response({{":status", "103"}, {"content-length", "5"}}), "103");
  EXPECT_EQ(read_response({{":status", "200"}, {"set-cookie", "a=1"}, {"set-cookie", "b=2"}}),
            "200 set-cookie=a=1; set-cookie=b=2;");
}

TEST(H2Head, OnlyAnswersToUpgradesSwitchProtocols) {
  EXPECT_EQ(read_response({{":status", "200"}}, "websocket"), "101 upgrade websocket");
  EXPECT_EQ(read_response({{":status", "201"}, {"content-length", "5"}}, "websocket"),
            "101 upgrade websocket");
  EXPECT_EQ(read_response({{":status", "302"}}, "websocket"), "302");
  EXPECT_EQ(read_response({{":status", "403"}}, "websocket"), "403");
  EXPECT_EQ(read_response({{":status", "200"}}), "200");
}

TEST(H2Head, KnowsInterimResponses) {
  for (const auto& [status, interim] :
       {std::pair("100", true), {"199", true}, {"200", false}, {"99", false}}) {
    Block block;
    block.add({}, ":status", status);
    EXPECT_EQ(block.is_interim(), interim) << status;
  }
}

TEST(H2Head, TrailersLoseWhatComesTooLate) {
  Block block;
  for (const char* name : {"x-sum", "content-length", "host", "authorization", "te", "grpc-status"})
    block.add({}, name, "1");
  EXPECT_EQ(text_of(block.to_trailers()), " x-sum=1; grpc-status=1;");
}

// What goes to the encoder; '!' behind a value that stays out of its table.
std::string text(const NameValues& block) {
  std::string out;
  const nghttp2_nv* field = block.begin();
  for (std::size_t i = 0; i < block.size(); ++i, ++field) {
    out.append(reinterpret_cast<const char*>(field->name), field->namelen) += '=';
    out.append(reinterpret_cast<const char*>(field->value), field->valuelen);
    out += (field->flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0 ? "!; " : "; ";
  }
  return out;
}

RequestHead request() {
  RequestHead head;
  head.method = "PUT";
  head.scheme = "https";
  head.authority = "a.test";
  head.path = "/p";
  head.fields.add("x-a", "b");
  return head;
}

TEST(H2Head, RequestsAreSentWithPseudoHeadersFirst) {
  IndexedNames indexed;
  RequestHead head = request();
  head.content_length = 5;
  EXPECT_EQ(text(NameValues(head, indexed)),
            ":method=PUT; :scheme=https; :authority=a.test; :path=/p; x-a=b; content-length=5; ");
}

TEST(H2Head, UpgradesAreSentAsExtendedConnect) {
  IndexedNames indexed;
  RequestHead head = request();
  head.method = "GET";
  head.upgrade = "websocket";
  EXPECT_EQ(text(NameValues(head, indexed)),
            ":method=CONNECT; :protocol=websocket; :scheme=https; :authority=a.test; :path=/p; "
            "x-a=b; ");
}

TEST(H2Head, ResponsesAreSentWithAStatusAndPerhapsALength) {
  const auto sent = [](int status, std::optional<std::uint64_t> length) {
    IndexedNames indexed;
    ResponseHead head;
    head.status = status;
    head.content_length = length;
    return text(NameValues(head, indexed));
  };
  EXPECT_EQ(sent(200, 18446744073709551615u), ":status=200; content-length=18446744073709551615; ");
  EXPECT_EQ(sent(200, {}), ":status=200; ");
  EXPECT_EQ(sent(204, 0), ":status=204; ");
  EXPECT_EQ(sent(103, 5), ":status=103; ");
  EXPECT_EQ(sent(101, {}), ":status=200; ");
}

TEST(H2Head, TrailersAreSentWithoutWhatComesTooLate) {
  IndexedNames indexed;
  Fields trailers;
  trailers.add("content-length", "1");
  trailers.add("grpc-status", "0");
  EXPECT_EQ(text(NameValues(trailers, indexed)), "grpc-status=0; ");
}

TEST(H2Head, ABlockOfAnySizeIsSentWhole) {
  IndexedNames indexed;
  for (const std::size_t n : {0u, 26u, 27u, 28u, 32u, 33u, 500u}) {
    RequestHead head = request();
    head.fields = {};
    head.content_length = 1;
    for (std::size_t i = 0; i < n; ++i) head.fields.add("x", std::to_string(i));
    const NameValues block(head, indexed);
    EXPECT_EQ(block.size(), n + 5);
    EXPECT_TRUE(text(block).ends_with((n > 0 ? "x=" + std::to_string(n - 1) + "; " : "") +
                                      "content-length=1; "));
  }
}

TEST(H2Head, ValuesThatChangeEachTimeEnterTheTableOnce) {
  IndexedNames indexed;
  RequestHead head = request();
  head.fields.add("x-request-id", "r");
  head.fields.add("traceparent", "t");
  const std::string begin = ":method=PUT; :scheme=https; :authority=a.test; :path=/p; x-a=b; ";
  EXPECT_EQ(text(NameValues(head, indexed)), begin + "x-request-id=r; traceparent=t; ");
  EXPECT_EQ(text(NameValues(head, indexed)), begin + "x-request-id=r!; traceparent=t!; ");
}

}  // namespace
}  // namespace damper::http::h2
