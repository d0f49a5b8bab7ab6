// What one codec writes, the other reads as the same message.
#include <gtest/gtest.h>

#include "http/h1_client_codec.h"
#include "http/h1_server_codec.h"
#include "tests/support/transcript.h"

namespace damper::http {
namespace {

H1ServerOptions server_options() { return {.enable_trailers = true}; }
H1ClientOptions client_options() { return {.enable_trailers = true}; }

RequestHead request(std::string_view method, std::optional<std::uint64_t> length) {
  RequestHead head;
  head.method = method;
  head.path = "/p?q";
  head.authority = "a.test:80";
  head.content_length = length;
  head.fields.add("x-a", "b c");
  head.fields.add(HeaderId::kTe, "trailers");
  head.fields.add("x-empty", "");
  head.fields.add("x-a", "d");
  return head;
}

struct Body {
  std::vector<std::string> pieces;
  bool trailers = false;
};

// Sends the pieces of a body, and its end, by any codec.
template <class Codec>
void send(Codec& codec, StreamId id, const Body& message) {
  for (std::size_t i = 0; i < message.pieces.size(); ++i) {
    Buffer body;
    body.append(message.pieces[i]);
    codec.send_body(id, body, i + 1 == message.pieces.size() && !message.trailers);
  }
  if (!message.trailers) return;
  Fields trailers;
  trailers.add("x-sum", "9");
  codec.send_trailers(id, trailers);
}

std::string request_read_back(const RequestHead& head, const Body& body) {
  H1ClientCodec client(client_options());
  send(client, client.send_head(head, body.pieces.empty()), body);
  EXPECT_TRUE(client.reusable());
  Buffer wire;
  client.pull(wire);
  H1ServerCodec server(server_options());
  RecordingServerSink sink(server);
  EXPECT_TRUE(server.receive(wire, sink));
  EXPECT_TRUE(server.idle());
  return sink.transcript.text();
}

TEST(H1RoundTrip, RequestsKeepTheirHeadBodyAndTrailers) {
  const std::string fields = " x-a=b c; x-empty=; x-a=d; te=trailers;\n";
  const std::string big(100000, 'x');
  EXPECT_EQ(request_read_back(request("GET", {}), {}),
            "GET http://a.test:80 /p?q" + fields + "end\n");
  EXPECT_EQ(request_read_back(request("PUT", {}), {}),
            "PUT http://a.test:80 /p?q length 0" + fields + "end\n");
  EXPECT_EQ(request_read_back(request("PUT", 5), {{"he", "", "llo"}}),
            "PUT http://a.test:80 /p?q length 5" + fields + "body hello\nend\n");
  EXPECT_EQ(request_read_back(request("PUT", {}), {{"he", "", big}}),
            "PUT http://a.test:80 /p?q" + fields + "body he" + big + "\nend\n");
  EXPECT_EQ(request_read_back(request("PUT", {}), {{"a"}, true}),
            "PUT http://a.test:80 /p?q" + fields + "body a\ntrailers x-sum=9;\n");
}

TEST(H1RoundTrip, AnUpgradeIsReadAsOne) {
  RequestHead head = request("GET", {});
  head.upgrade = "websocket";
  EXPECT_EQ(request_read_back(head, {}).substr(0, 44),
            "GET http://a.test:80 /p?q upgrade websocket ");
}

std::string response_read_back(std::string_view method, int status,
                               std::optional<std::uint64_t> length, const Body& body) {
  H1ClientCodec client(client_options());
  H1ServerCodec server(server_options());
  RecordingServerSink nobody(server);
  nobody.answers = false;
  const StreamId id = client.send_head(request(method, {}), true);
  Buffer wire;
  client.pull(wire);
  EXPECT_TRUE(server.receive(wire, nobody));
  ResponseHead head;
  head.status = status;
  head.content_length = length;
  head.fields.add("set-cookie", "a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT");
  head.fields.add("set-cookie", "b=2");
  server.send_head(id, head, body.pieces.empty());
  send(server, id, body);
  server.pull(wire);
  RecordingClientSink sink;
  EXPECT_TRUE(client.receive(wire, sink));
  EXPECT_TRUE(client.can_open());
  EXPECT_TRUE(server.idle());
  return sink.transcript.text();
}

TEST(H1RoundTrip, ResponsesKeepTheirHeadBodyAndTrailers) {
  const std::string cookies =
      " set-cookie=a=1; Expires=Wed, 01 Jan 2031 00:00:00 GMT; set-cookie=b=2;\n";
  EXPECT_EQ(response_read_back("GET", 200, {}, {}), "200 length 0" + cookies + "end\n");
  EXPECT_EQ(response_read_back("GET", 200, 5, {{"he", "llo"}}),
            "200 length 5" + cookies + "body hello\nend\n");
  EXPECT_EQ(response_read_back("GET", 200, {}, {{"he", "", "llo"}}),
            "200" + cookies + "body hello\nend\n");
  EXPECT_EQ(response_read_back("GET", 200, {}, {{"a"}, true}),
            "200" + cookies + "body a\ntrailers x-sum=9;\n");
  EXPECT_EQ(response_read_back("HEAD", 200, 5, {}), "200 length 5" + cookies + "end\n");
  EXPECT_EQ(response_read_back("GET", 204, {}, {}), "204" + cookies + "end\n");
  EXPECT_EQ(response_read_back("GET", 304, 777, {}), "304 length 777" + cookies + "end\n");
}

}  // namespace
}  // namespace damper::http
