#include "http/forwarding.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "net/cidr.h"

namespace damper::http {
namespace {

constexpr std::string_view kServiceCluster = "x-envoy-downstream-service-cluster";
constexpr std::string_view kServiceNode = "x-envoy-downstream-service-node";

// Words by which a request tells a proxy what to do.
constexpr std::array kSteering = {
    HeaderId::kXEnvoyRetryOn,
    HeaderId::kXEnvoyRetryGrpcOn,
    HeaderId::kXEnvoyMaxRetries,
    HeaderId::kXEnvoyRetriableStatusCodes,
    HeaderId::kXEnvoyRetriableHeaderNames,
    HeaderId::kXEnvoyUpstreamRqTimeoutMs,
    HeaderId::kXEnvoyUpstreamRqPerTryTimeoutMs,
    HeaderId::kXEnvoyUpstreamRqTimeoutAltResponse,
    HeaderId::kXEnvoyHedgeOnPerTryTimeout,
};
constexpr std::array<std::string_view, 5> kOtherSteering = {
    "x-envoy-force-trace", "x-envoy-ip-tags", "x-envoy-original-url",
    "x-envoy-upstream-alt-stat-name", "x-envoy-upstream-stream-duration-ms"};
constexpr std::array kSaidBetweenProxies = {
    HeaderId::kXEnvoyAttemptCount,        HeaderId::kXEnvoyIsTimeoutRetry,
    HeaderId::kGrpcPreviousRpcAttempts,   HeaderId::kGrpcTimeout,
    HeaderId::kXEnvoyExpectedRqTimeoutMs, HeaderId::kXDeadline,
    HeaderId::kXRequestDeadline,
};

template <class List, class T>
bool contains(const List& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool is_steering(const Field& f) {
  if (f.id != HeaderId::kOther) return contains(kSteering, f.id);
  return f.name.starts_with("x-envoy-") && contains(kOtherSteering, f.name);
}

bool is_dampers(const Field& f) { return f.name.starts_with("x-damper-"); }

// Adds to the list under that name; several fields of it become one.
void append(Fields& fields, HeaderId id, std::string_view separator, std::string_view value) {
  auto list = fields.joined(header_name(id));
  if (!list || list->empty()) return fields.set(id, value);
  fields.set(id, list->append(separator).append(value));
}

// The address `hops` places before the last of x-forwarded-for; empty if there is none or it is
// none.
std::string address_from_right(const Fields& fields, std::size_t hops) {
  const auto list = fields.joined(header_name(HeaderId::kXForwardedFor));
  if (!list) return {};
  const auto addresses = split(*list, ',');
  if (addresses.size() <= hops) return {};
  std::string address(addresses[addresses.size() - 1 - hops]);
  return net::is_ip_address(address) ? address : std::string();
}

std::string_view scheme_of(const Peer& peer) { return peer.tls ? "https" : "http"; }

// use_remote_address: we are the first proxy that the network behind us trusts, so we say who the
// peer is. Otherwise an earlier one has said it.
std::string forward_address(Fields& fields, const config::HttpOptions& options, const Peer& peer) {
  const std::size_t hops = options.xff_num_trusted_hops;
  if (!options.use_remote_address) return address_from_right(fields, hops);
  std::string client = hops > 0 ? address_from_right(fields, hops - 1) : std::string();
  if (!options.skip_xff_append && !peer.address.empty()) {
    append(fields, HeaderId::kXForwardedFor, ",", peer.address);
  }
  // Without a trusted proxy before us, what the peer says about its scheme is not worth more than
  // what we see.
  if (hops == 0) fields.set(HeaderId::kXForwardedProto, scheme_of(peer));
  return client;
}

void forward_scheme(RequestHead& head, const Peer& peer) {
  const auto proto = head.fields.find(HeaderId::kXForwardedProto);
  if (!proto || proto->empty()) head.fields.set(HeaderId::kXForwardedProto, scheme_of(peer));
  // HTTP/1 in origin-form names no scheme: the best that we know is what the client used towards
  // the first proxy.
  if (head.protocol == Protocol::kHttp2 || head.scheme != "http") return;
  const std::string_view known = proto == "https" || proto == "http" ? *proto : scheme_of(peer);
  head.scheme = known == "https" ? "https" : "http";
}

void remove_untrusted(Fields& fields, bool edge) {
  fields.remove_if([edge](const Field& f) {
    if (is_steering(f)) return true;
    return edge && f.id == HeaderId::kOther &&
           (f.name == kServiceCluster || f.name == kServiceNode ||
            f.name == "x-envoy-decorator-operation");
  });
}

void add_service(Fields& fields, const config::Node& node) {
  fields.set(kServiceCluster, node.cluster);
  if (!node.id.empty()) fields.set(kServiceNode, node.id);
  if (fields.find(HeaderId::kUserAgent).value_or("").empty())
    fields.set(HeaderId::kUserAgent, node.cluster);
}

// True if the id is ours.
bool ensure_request_id(Fields& fields, const config::HttpOptions& options, bool edge,
                       Random& random) {
  if (!options.generate_request_id) return false;
  const bool replace = edge && !options.preserve_external_request_id;
  if (!replace && !fields.find(HeaderId::kXRequestId).value_or("").empty()) return false;
  fields.set(HeaderId::kXRequestId, uuid_v4(random));
  return true;
}

}  // namespace

Origin prepare_request(RequestHead& head, const config::HttpOptions& options,
                       const config::Node& node, const Peer& peer, Random& random) {
  Fields& fields = head.fields;
  fields.remove(HeaderId::kXEnvoyInternal);
  Origin origin;
  // Where we are to name the peer, one that names somebody before it speaks for a stranger.
  origin.may_steer =
      peer.trusted && !(options.use_remote_address && fields.has(HeaderId::kXForwardedFor));
  origin.internal = options.use_remote_address && origin.may_steer;
  origin.client = forward_address(fields, options, peer);
  forward_scheme(head, peer);

  const bool edge = options.use_remote_address && !origin.internal;
  if (origin.internal) fields.set(HeaderId::kXEnvoyInternal, "true");
  if (!origin.may_steer) remove_untrusted(fields, edge);
  if (options.add_user_agent) add_service(fields, node);
  if (!options.via.empty()) append(fields, HeaderId::kVia, ", ", options.via);
  const std::string_view external =
      origin.client.empty() ? peer.address : std::string_view(origin.client);
  if (edge && !external.empty()) fields.set(HeaderId::kXEnvoyExternalAddress, external);
  origin.made_request_id = ensure_request_id(fields, options, edge, random);
  return origin;
}

void prepare_response(ResponseHead& head, const RequestHead& request,
                      const config::HttpOptions& options) {
  using ServerHeader = config::HttpOptions::ServerHeader;
  Fields& fields = head.fields;
  const bool ours =
      options.server_header == ServerHeader::kOverwrite ||
      (options.server_header == ServerHeader::kAppendIfAbsent && !fields.has(HeaderId::kServer));
  if (ours) fields.set(HeaderId::kServer, options.server_name);
  if (!options.via.empty()) append(fields, HeaderId::kVia, ", ", options.via);
  if (!options.always_set_request_id_in_response) return;
  if (const auto id = request.fields.find(HeaderId::kXRequestId))
    fields.set(HeaderId::kXRequestId, *id);
}

void strip_request_at_edge(Fields& fields) {
  fields.remove_if(
      [](const Field& f) { return is_dampers(f) || contains(kSaidBetweenProxies, f.id); });
}

void strip_response_at_edge(Fields& fields) { fields.remove_if(is_dampers); }

std::string uuid_v4(Random& random) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "xxxxxxxx-xxxx-4xxx-Nxxx-xxxxxxxxxxxx";
  std::uint64_t bits = random.next();
  const auto fill = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i, bits >>= 4) out[i] = kHex[bits & 0xf];
  };
  fill(0, 8);
  fill(9, 13);
  fill(15, 18);
  bits = random.next();
  out[19] = kHex[8 | (bits & 3)];
  bits >>= 2;
  fill(20, 23);
  fill(24, 36);
  return out;
}

}  // namespace damper::http
