// What the tests of the demo services share: a loop with a server on a free port, and a client.
#pragma once
#include <optional>
#include <utility>

#include "bench/demo/client.h"
#include "bench/demo/server.h"
#include "tests/support/sockets.h"

namespace damper::demo {

inline Socket listen_anywhere() { return *listen_on({"127.0.0.1", 0}); }
inline Address address_of(const Socket& listening) { return {"127.0.0.1", *local_port(listening)}; }

// Sends and waits for what becomes of it.
inline Result<Response> exchange(event::Loop& loop, Client& client, const Request& request,
                                 Duration patience = {}) {
  std::optional<Result<Response>> out;
  client.send(request, patience, [&](const Result<Response>& result) { out.emplace(result); });
  tests::run_until(loop, [&] { return out.has_value(); });
  return out ? *std::move(out) : Result<Response>(Error{Errc::kSystem, Side::kLocal, "no end"});
}

}  // namespace damper::demo
