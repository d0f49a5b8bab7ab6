// A request that was retried once, with every field of its record filled.
#pragma once
#include "stream/access_record.h"

namespace damper::tests {

struct SampleRecord {
  SampleRecord() {
    using std::chrono::milliseconds;
    request.method = "GET";
    request.authority = "orders.example";
    request.path = "/new/path?x=1";
    request.content_length = 12;
    request.fields.add("user-agent", "curl/8.0");
    request.fields.add("x-request-id", "id-1");
    request.fields.add("x-forwarded-for", "10.1.1.1");
    response.status = 200;
    response.content_length = 345;
    response.fields.add("x-envoy-upstream-service-time", "17");
    response.fields.add("content-type", "text/plain");
    trailers.add("checksum", "abc");

    record.request = &request;
    record.response = &response;
    record.response_trailers = &trailers;
    record.stream_id = 7;
    record.connection_id = 3;
    record.upstream_connection_id = 9;
    record.downstream_remote = "127.0.0.1:43210";
    record.downstream_local = "[::1]:8080";
    record.upstream_local = "10.0.0.9:5000";
    record.start_time = WallTime{} + std::chrono::seconds(1767323045) + milliseconds(678);
    record.start = TimePoint{} + std::chrono::hours(1);
    record.request_end = record.start + milliseconds(2);
    record.upstream_start = record.start + milliseconds(3);
    record.response_start = record.start + std::chrono::microseconds(20500);
    record.end = record.start + milliseconds(25);
    record.status = 200;
    record.details = "via_upstream";
    record.bytes_received = 12;
    record.bytes_sent = 345;
    record.route_name = "by-path";
    record.virtual_host = "all";
    record.cluster = "orders";
    record.upstream_host = "10.0.0.2:80";
    record.path_before_rewrite = "/old/path?x=1";
    record.attempts = {{"10.0.0.1:80", milliseconds(3), "503"},
                       {"10.0.0.2:80", milliseconds(5), "200"}};
    record.idempotency_key = "key-1";
    record.deadline = record.start + milliseconds(100);
  }

  http::RequestHead request;
  http::ResponseHead response;
  http::Fields trailers;
  stream::AccessRecord record;
};

}  // namespace damper::tests
