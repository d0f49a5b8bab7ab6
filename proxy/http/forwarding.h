// What a proxy adds to messages about itself and about who sent them: x-forwarded-for,
// x-forwarded-proto, x-request-id, x-envoy-internal, x-envoy-external-address, via, server. Rules
// as in Envoy's HttpConnectionManager, except that trust comes from the peer's address alone.
#pragma once
#include <string>
#include <string_view>

#include "base/random.h"
#include "config/model/bootstrap.h"
#include "http/message.h"

namespace damper::http {

struct Peer {
  std::string_view address;  // IP address without a port; empty for a unix socket
  bool trusted = false;      // may steer by x-envoy-*: the listener's `trust` covers it
  bool tls = false;
};

struct Origin {
  bool may_steer = false;  // x-envoy-retry-on and its like were left in place
  bool internal = false;   // Envoy's word for it: x-envoy-internal is set
  bool made_request_id = false;
  // The client's IP address as x-forwarded-for tells it, if it is to be believed; empty: the peer
  // is the client.
  std::string client;
};

// Called once, before the request is routed. Removes what the peer may not say, adds what is ours
// to say.
Origin prepare_request(RequestHead& head, const config::HttpOptions& options,
                       const config::Node& node, const Peer& peer, Random& random);

// Called once for a final response, an upstream's or our own.
void prepare_response(ResponseHead& head, const RequestHead& request,
                      const config::HttpOptions& options);

// For a listener with `edge: true`: what proxies tell each other about retries and deadlines ends
// there.
void strip_request_at_edge(Fields& fields);
void strip_response_at_edge(Fields& fields);

std::string uuid_v4(Random& random);  // RFC 9562 §5.4

}  // namespace damper::http
