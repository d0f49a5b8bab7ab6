#include "filters/legs/trace_ids.h"

#include <gtest/gtest.h>

#include "tests/support/heads.h"

namespace damper::legs {
namespace {

using tests::HeaderList;

const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kTraceparent = "00-" + kTrace + "-00f067aa0ba902b7-01";

// "trace/request/b3/nonce", with "-" for what is not there.
std::string ids(HeaderList headers) {
  const http::RequestHead head = tests::request("stock", "/", headers);
  const TraceIds found = trace_ids(head.fields);
  const auto text = [](std::string_view id) { return id.empty() ? "-" : std::string(id); };
  const std::string all = text(found.trace) + "/" + text(found.request) + "/" + text(found.b3) +
                          "/" + (found.nonce ? format_nonce(*found.nonce) : "-");
  EXPECT_EQ(found.none(), all == "-/-/-/-");
  return all;
}

TEST(TraceIds, EveryFormIsRead) {
  const std::string b3 = "463ac35c9f6413ad48485a3953bb6124";
  EXPECT_EQ(ids({}), "-/-/-/-");
  EXPECT_EQ(ids({{"traceparent", kTraceparent}}), kTrace + "/-/-/-");
  EXPECT_EQ(ids({{"traceparent", "01-" + kTrace + "-00f067aa0ba902b7-01-more"}}),
            kTrace + "/-/-/-");
  EXPECT_EQ(ids({{"x-request-id", "any text"}}), "-/any text/-/-");
  EXPECT_EQ(ids({{"b3", b3 + "-a2fb4a1d1a96d312-1-0020000000000001"}}), "-/-/" + b3 + "/-");
  EXPECT_EQ(ids({{"b3", "a2fb4a1d1a96d312-e457b5a2e4d86bd1"}}), "-/-/a2fb4a1d1a96d312/-");
  EXPECT_EQ(ids({{"x-b3-traceid", b3}}), "-/-/" + b3 + "/-");
  EXPECT_EQ(ids({{"b3", "0"}, {"x-b3-traceid", b3}}), "-/-/" + b3 + "/-");
  EXPECT_EQ(ids({{"traceparent", kTraceparent}, {"x-request-id", "r"}, {"b3", b3 + "-1"}}),
            kTrace + "/r/" + b3 + "/-");
}

TEST(TraceIds, MalformedOnesAreNone) {
  for (const std::string& value : std::vector<std::string>{
           "", "00", kTrace, "00-" + kTrace, "00_" + kTrace + "-0-01",
           "00-" + kTrace + "0-00f067aa0ba902b7-01", "00-" + std::string(32, '0') + "-b7-01",
           "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01"}) {
    EXPECT_EQ(ids({{"traceparent", value}}), "-/-/-/-") << value;
  }
  for (const std::string& value :
       {std::string(), std::string("0"), std::string("d"), std::string("a2fb4a1d1a96d31"),
        std::string(16, '0') + "-1-1", std::string("a2fb4a1d1a96d31x-1-1"), std::string(33, 'a')}) {
    EXPECT_EQ(ids({{"b3", value}}), "-/-/-/-") << value;
    EXPECT_EQ(ids({{"x-b3-traceid", value}}), "-/-/-/-") << value;
  }
  EXPECT_EQ(ids({{"x-request-id", ""}}), "-/-/-/-");
}

TEST(TraceIds, OurMemberOfTracestateIsTheNonce) {
  const auto nonce = [](std::string_view tracestate) {
    const std::string all = ids({{"traceparent", kTraceparent}, {"tracestate", tracestate}});
    return all.substr(all.rfind('/') + 1);
  };
  EXPECT_EQ(nonce("damper=1a2b"), "1a2b");
  EXPECT_EQ(nonce("damper=ffffffffffffffff"), "ffffffffffffffff");
  EXPECT_EQ(nonce("congo=t61rcWkgMzE, damper=7 ,rojo=1"), "7");
  EXPECT_EQ(nonce("damper-key=1,dampers=2,damper=3"), "3");
  for (const auto* malformed :
       {"", "damper", "damper=", "damper=xyz", "damper=-1", "damper=1ffffffffffffffff"}) {
    EXPECT_EQ(nonce(malformed), "-") << malformed;
  }
  EXPECT_EQ(ids({{"tracestate", "damper=7"}}), "-/-/-/-");  // of no trace
  EXPECT_EQ(ids({{"traceparent", "00-0"}, {"tracestate", "damper=7"}}), "-/-/-/-");
  EXPECT_EQ(ids({{"traceparent", kTraceparent}, {"tracestate", "a=1"}, {"tracestate", "damper=9"}}),
            kTrace + "/-/-/9");
}

// What becomes of these lines of tracestate.
std::string with_member(HeaderList tracestates) {
  http::RequestHead head = tests::request("stock", "/", tracestates);
  head.fields.add("traceparent", kTraceparent);
  set_tracestate_member(head.fields, "damper", "7");
  EXPECT_EQ(head.fields.joined("tracestate"), head.fields.find(http::HeaderId::kTracestate));
  return head.fields.joined("tracestate").value_or("");
}

TEST(TracestateMember, StandsFirstAndOnce) {
  EXPECT_EQ(with_member({}), "damper=7");
  EXPECT_EQ(with_member({{"tracestate", ""}}), "damper=7");
  EXPECT_EQ(with_member({{"tracestate", "congo=1, rojo=2"}}), "damper=7,congo=1,rojo=2");
  EXPECT_EQ(with_member({{"tracestate", "congo=1,damper=6,rojo=2,damper=5"}}),
            "damper=7,congo=1,rojo=2");
  EXPECT_EQ(with_member({{"tracestate", "damper-key=1,dampers=2"}}),
            "damper=7,damper-key=1,dampers=2");
  EXPECT_EQ(with_member({{"tracestate", "congo=1"}, {"tracestate", "rojo=2"}}),
            "damper=7,congo=1,rojo=2");
}

TEST(TracestateMember, TheLastOf32MakesRoom) {
  const auto members = [](int n) {
    std::string out;
    for (int i = 1; i <= n; ++i) out += (i > 1 ? ",m" : "m") + std::to_string(i) + "=x";
    return out;
  };
  EXPECT_EQ(with_member({{"tracestate", members(31)}}), "damper=7," + members(31));
  EXPECT_EQ(with_member({{"tracestate", members(32)}}), "damper=7," + members(31));
  EXPECT_EQ(with_member({{"tracestate", members(31) + ",damper=1"}}), "damper=7," + members(31));
}

TEST(TracestateMember, MeansNothingWithoutATraceparent) {
  http::RequestHead head = tests::request("stock", "/", {{"tracestate", "congo=1"}});
  set_tracestate_member(head.fields, "damper", "7");
  EXPECT_EQ(head.fields.joined("tracestate"), "congo=1");
}

TEST(Nonce, SurvivesTheWire) {
  for (const std::uint64_t nonce : {std::uint64_t{0}, std::uint64_t{255}, ~std::uint64_t{0}}) {
    http::RequestHead head = tests::request("stock", "/", {{"traceparent", kTraceparent}});
    set_tracestate_member(head.fields, kNonceMember, format_nonce(nonce));
    EXPECT_EQ(trace_ids(head.fields).nonce, nonce);
  }
}

}  // namespace
}  // namespace damper::legs
