// Heads are compared byte for byte in the tests of the codecs.
#include "http/h1_writer.h"

#include <gtest/gtest.h>

namespace damper::http::h1 {
namespace {

TEST(Delivery, AResponseToHttp10IsNeverChunked) {
  ResponseHead head;
  head.status = 200;
  EXPECT_EQ(response_delivery(head, false, false, false).framing, Framing::kChunked);
  EXPECT_EQ(response_delivery(head, false, false, true).framing, Framing::kUntilClose);
}

TEST(Delivery, OnlyMethodsThatExpectContentSayThatTheyHaveNone) {
  RequestHead head;
  for (const auto& [method, length] :
       {std::pair<std::string_view, std::optional<std::uint64_t>>{"POST", 0},
        {"PUT", 0},
        {"PATCH", 0},
        {"GET", {}},
        {"DELETE", {}}}) {
    head.method = method;
    EXPECT_EQ(request_delivery(head, true).content_length, length) << method;
  }
}

TEST(WriteResponseHead, AHeadOfAnySizeFitsItsRoom) {
  ResponseHead head;
  head.status = 200;
  head.fields.add("x-long", std::string(50000, 'a'));
  Buffer out;
  out.append("before ");
  write_response_head(head, {.framing = Framing::kLength, .content_length = 18446744073709551615u},
                      true, out);
  EXPECT_EQ(out.to_string(),
            "before HTTP/1.1 200 OK\r\nx-long: " + std::string(50000, 'a') +
                "\r\ncontent-length: 18446744073709551615\r\nconnection: close\r\n\r\n");
}

TEST(WriteTrailerFields, WhatMayNotStandThereIsLeftOut) {
  Fields trailers;
  trailers.add("x-sum", "1");
  trailers.add("transfer-encoding", "chunked");
  Buffer out;
  write_trailer_fields(trailers, out);
  EXPECT_EQ(out.to_string(), "x-sum: 1\r\n");
}

}  // namespace
}  // namespace damper::http::h1
