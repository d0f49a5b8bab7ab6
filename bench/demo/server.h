// An HTTP server of one thread per connection, for the services of the demo.
#pragma once
#include <functional>

#include "bench/demo/http1.h"

namespace damper::demo {

// Called by many threads at once.
using Answer = std::function<Response(const Request&)>;

// Answers the requests of one connection until its end.
void serve_connection(Connection connection, const Answer& answer);

// Serves until the process ends; prints "listening on 127.0.0.1:PORT" when ready. Returns only an
// error.
Error serve(const Address& address, const Answer& answer);

}  // namespace damper::demo
