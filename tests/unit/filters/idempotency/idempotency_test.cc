#include "filters/idempotency/idempotency.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"
#include "tests/support/stream_context.h"

namespace damper::filters {
namespace {

using http::HeaderId;
using tests::HeaderList;

struct Request {
  explicit Request(std::string_view method, HeaderList headers = {},
                   config::IdempotencyFilter settings_ = {.generate = true})
      : settings(std::move(settings_)), head(tests::request("stock", "/", headers, method)) {
    filter.on_request_head(head, true);
  }

  std::string_view key(std::string_view header = "idempotency-key") {
    return head.fields.find(header).value_or("");
  }
  std::string_view tracestate() { return head.fields.find(HeaderId::kTracestate).value_or(""); }

  config::IdempotencyFilter settings;
  http::RequestHead head;
  tests::TestStream stream;
  Random random{7};
  Idempotency filter{settings, stream, random};
};

TEST(IdempotencyFilter, MakesAKeyForWhatIsNotIdempotent) {
  for (const auto* method : {"POST", "PATCH"}) {
    Request request(method);
    EXPECT_EQ(request.key().size(), 36u);
    EXPECT_EQ(request.stream.access.idempotency_key, request.key());
    EXPECT_TRUE(request.stream.access.key_made_here);
  }
  for (const auto* method : {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}) {
    Request request(method);
    EXPECT_EQ(request.key(), "");
    EXPECT_EQ(request.stream.access.idempotency_key, "");
    EXPECT_FALSE(request.stream.access.key_made_here);
  }
}

TEST(IdempotencyFilter, AnEmptyKeyIsNone) {
  Request made("POST", {{"idempotency-key", ""}});
  EXPECT_EQ(made.key().size(), 36u);
  Request left_alone("POST", {{"idempotency-key", ""}}, {.generate = false});
  EXPECT_EQ(left_alone.stream.access.idempotency_key, "");
}

TEST(IdempotencyFilter, NoTwoKeysAreAlike) {
  Request first("POST");
  Request second("POST");
  second.head.fields.remove("idempotency-key");
  Idempotency(second.settings, second.stream, first.random).on_request_head(second.head, true);
  EXPECT_NE(first.key(), second.key());
}

TEST(IdempotencyFilter, MakesNoneUnlessItIsToldTo) {
  Request request("POST", {}, {});
  EXPECT_EQ(request.key(), "");
  EXPECT_EQ(request.stream.access.idempotency_key, "");
}

TEST(IdempotencyFilter, TheClientsKeyStays) {
  for (const bool generate : {true, false}) {
    for (const auto* method : {"POST", "GET"}) {
      Request request(method, {{"idempotency-key", "k1"}}, {.generate = generate});
      EXPECT_EQ(request.key(), "k1");
      EXPECT_EQ(request.stream.access.idempotency_key, "k1");
      EXPECT_FALSE(request.stream.access.key_made_here);
    }
  }
}

TEST(IdempotencyFilter, TheHeaderMayHaveAnotherName) {
  const config::IdempotencyFilter settings{.generate = true, .header = "x-once"};
  EXPECT_EQ(Request("POST", {{"x-once", "k1"}}, settings).stream.access.idempotency_key, "k1");
  Request made("POST", {}, settings);
  EXPECT_EQ(made.key("x-once").size(), 36u);
  EXPECT_EQ(made.key(), "");
}

TEST(IdempotencyFilter, TheKeyStandsInTheTrace) {
  const std::pair<std::string_view, std::string_view> trace = {"traceparent", "00-1-2-01"};
  EXPECT_EQ(Request("GET", {trace, {"idempotency-key", "k1"}}).tracestate(), "damper-key=k1");
  EXPECT_EQ(Request("GET", {trace, {"tracestate", "a=1,damper=7"}, {"idempotency-key", "k 1"}})
                .tracestate(),
            "damper-key=k 1,a=1,damper=7");
  EXPECT_EQ(Request("GET", {{"idempotency-key", "k1"}}).tracestate(), "");
  Request made("POST", {trace});
  EXPECT_EQ(made.tracestate(), "damper-key=" + std::string(made.key()));
  EXPECT_EQ(Request("GET", {trace}).tracestate(), "");
}

TEST(IdempotencyFilter, WhatATraceCannotHoldIsLeftOutOfIt) {
  const auto tracestate = [](const std::string& key) {
    Request request("GET", {{"traceparent", "00-1-2-01"}, {"idempotency-key", key}});
    EXPECT_EQ(request.stream.access.idempotency_key, key);
    return std::string(request.tracestate());
  };
  for (const std::string& key :
       {std::string("a,b"), std::string("a=b"), std::string("a\tb"), std::string("\xc3\xa9"),
        std::string("a "), std::string(), std::string(257, 'k')}) {
    EXPECT_EQ(tracestate(key), "") << key;
  }
  EXPECT_EQ(tracestate(std::string(256, 'k')), "damper-key=" + std::string(256, 'k'));
}

}  // namespace
}  // namespace damper::filters
