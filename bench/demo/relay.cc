#include "bench/demo/relay.h"

#include <utility>

namespace damper::demo {
namespace {

Response answer_after(const Result<Response>& call) {
  if (call) return {call->status, "relayed\n"};
  return {call.error().code == Errc::kTimeout ? 504 : 502, call.error().detail + "\n"};
}

}  // namespace

Relay::Relay(event::Loop& loop, Socket listening, const RelayOptions& options)
    : options_(options),
      client_(loop, options.target),
      server_(loop, std::move(listening),
              [this](Server::Exchange exchange, const Request& request) {
                receive(exchange, request);
              }) {}

void Relay::receive(Server::Exchange exchange, const Request& request) {
  Request call{request.method, request.path};
  for (const std::string& name : options_.handed_on) {
    const std::string_view value = value_of(request.fields, name);
    if (!value.empty()) call.fields.push_back({name, std::string(value)});
  }
  client_.send(call, options_.timeout, [this, exchange](const Result<Response>& result) {
    server_.answer(exchange, answer_after(result));
  });
}

}  // namespace damper::demo
