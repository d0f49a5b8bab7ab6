#include "bench/demo/server.h"

#include <gtest/gtest.h>
#include <thread>

#include "tests/unit/bench/demo/pair.h"

namespace damper::demo {
namespace {

TEST(DemoServer, AnswersEveryRequestOfAConnectionUntilItsEnd) {
  auto [a, b] = socket_pair();
  std::thread server([service = Connection(std::move(b))]() mutable {
    serve_connection(std::move(service), [](const Request& r) { return Response{200, r.path}; });
  });
  {
    Connection user(std::move(a));
    for (const char* path : {"/1", "/2"}) {
      ASSERT_TRUE(user.write(Request{"GET", path}, "demo"));
      EXPECT_EQ(user.read_response()->body, path);
    }
  }
  server.join();
}

TEST(DemoServer, EndsAConnectionThatAsksForIt) {
  auto [a, b] = socket_pair();
  ASSERT_TRUE(a.write_all("GET / HTTP/1.1\r\nconnection: close\r\n\r\n"));
  serve_connection(Connection(std::move(b)), [](const Request&) { return Response{204, ""}; });
  Connection user(std::move(a));
  EXPECT_EQ(user.read_response()->status, 204);
  EXPECT_EQ(user.read_response().error().code, Errc::kClosed);
}

TEST(DemoServer, SaysWhyItCannotListen) {
  const Error error = serve({"not an address", 0}, [](const Request&) { return Response{}; });
  EXPECT_EQ(error.code, Errc::kInvalid);
}

}  // namespace
}  // namespace damper::demo
