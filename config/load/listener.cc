#include "config/load/listener.h"

#include "config/load/common.h"
#include "config/load/http.h"
#include "config/load/tls.h"

namespace damper::config {
namespace {

constexpr std::string_view kConnectionManager =
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

void read_direction(Cursor& c, Direction& out) {
  c.one_of({"traffic_direction", "direction"}, false);
  c.read_word<Direction>("traffic_direction", out,
                         {{"UNSPECIFIED", Direction::kUnspecified},
                          {"INBOUND", Direction::kInbound},
                          {"OUTBOUND", Direction::kOutbound}});
  c.read_word<Direction>("direction", out,
                         {{"inbound", Direction::kInbound}, {"outbound", Direction::kOutbound}});
}

void read_addresses(Cursor& c, Listener& out) {
  if (!c.has("address")) c.missing("address");
  if (const Cursor address = c.at("address")) read_address(address, HostForm::kIp, out.address);
  for (Cursor item : c.list("additional_addresses")) {
    Endpoint endpoint;
    bool good = false;
    if (item.is_mapping() && item.has("address")) {
      good = read_address(item.at("address"), HostForm::kIp, endpoint);
      item.no_other_keys("AdditionalAddress");
    } else {
      good = read_address(item, HostForm::kIp, endpoint);
    }
    if (good) out.additional_addresses.push_back(std::move(endpoint));
  }
}

// Filters that look at a connection before HTTP. Two of them only find out what filter chains ask
// for: here, nobody asks.
void read_listener_filters(const std::vector<Cursor>& items) {
  for (Cursor c : items) {
    if (!c.is_mapping_or_error()) continue;
    std::string name;
    c.read("name", name);
    Cursor config = c.object("typed_config");
    c.no_other_keys("ListenerFilter");
    std::string type = config ? read_type(config) : name;
    const bool harmless = type.find("tls_inspector") != std::string::npos ||
                          type.find("http_inspector") != std::string::npos;
    if (harmless) {
      c.without_effect("has no effect here: nothing depends on what it finds");
    } else {
      c.unsupported("listener filter " + type);
    }
  }
}

HttpOptions read_network_filter(Cursor c, const std::string& name) {
  if (!c.is_mapping_or_error()) return {};
  std::string ignored_name;
  c.read("name", ignored_name);
  Cursor config = c.object("typed_config");
  if (!config) c.missing("typed_config");
  c.no_other_keys("NetworkFilter");
  if (!config) return {};
  const std::string type = read_type(config);
  if (type == kConnectionManager) return read_connection_manager(config, name);
  if (!type.empty()) config.at("@type").unsupported("network filter " + type);
  return {};
}

void read_filter_chain(Cursor chain, Listener& out) {
  if (!chain.is_mapping_or_error()) return;
  std::string ignored_name;
  chain.read("name", ignored_name);
  if (const Cursor socket = chain.at("transport_socket")) out.tls = read_downstream_socket(socket);
  Duration handshake_timeout = DownstreamTls{}.handshake_timeout;
  chain.read("transport_socket_connect_timeout", handshake_timeout);
  if (out.tls) out.tls->handshake_timeout = handshake_timeout;
  const auto filters = chain.list("filters");
  chain.no_other_keys("FilterChain");
  if (filters.empty()) chain.error("an HttpConnectionManager is missing in filters");
  if (filters.size() > 1) filters[1].unsupported("more than one network filter");
  if (!filters.empty()) out.http = read_network_filter(filters[0], out.name);
}

void read_filter_chains(const Cursor& owner, const std::vector<Cursor>& chains, Listener& out) {
  if (chains.size() > 1) chains[1].unsupported("more than one filter chain");
  if (chains.empty()) return owner.error("filter_chains is empty");
  read_filter_chain(chains[0], out);
}

void read_sockets(Cursor& c, Listener& out) {
  c.read("per_connection_buffer_limit_bytes", out.buffer_limit_bytes);
  c.read("enable_reuse_port", out.reuse_port);
  c.read("tcp_backlog_size", out.backlog, Range<int>{.least = 1});
  c.read("max_connections", out.max_connections);
}

void read_damper_words(Cursor& c, Listener& out) {
  c.read("edge", out.edge);
  if (c.has("trust")) out.trust = read_ranges(c.list("trust"));
}

}  // namespace

Listener read_listener(Cursor c) {
  Listener out;
  if (!c.is_mapping_or_error()) return out;
  read_addresses(c, out);
  out.name = out.address.to_string();
  c.read("name", out.name);
  read_direction(c, out.direction);
  read_sockets(c, out);
  read_listener_filters(c.list("listener_filters"));
  read_damper_words(c, out);
  if (c.has("filter_chains")) {
    read_filter_chains(c, c.list("filter_chains"), out);
    c.read("stat_prefix", out.stat_prefix);
    c.no_other_keys("Listener");
  } else {
    out.http = read_short_http(c, out.name);
    if (const Cursor tls = c.at("tls"))
      out.tls = read_short_downstream_tls(tls, out.http.codec_type);
    c.no_other_keys("ShortListener");
  }
  return out;
}

}  // namespace damper::config
