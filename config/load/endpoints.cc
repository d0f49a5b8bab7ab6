#include "config/load/endpoints.h"

#include <algorithm>
#include <map>

#include "config/load/common.h"

namespace damper::config {
namespace {

constexpr Range<std::uint32_t> kWeights{.least = 1};
constexpr Range<std::uint32_t> kPriorities{.least = 0, .most = 128};

HostForm host_form(const Cluster& cluster) {
  return cluster.type == Cluster::Type::kStatic ? HostForm::kIp : HostForm::kIpOrName;
}

void read_lb_endpoint(Cursor c, std::uint32_t priority, Cluster& out) {
  if (!c.is_mapping_or_error()) return;
  ClusterEndpoint endpoint{.address = {}, .weight = 1, .priority = priority, .hostname = {}};
  Cursor inner = c.object("endpoint");
  if (!inner) c.missing("endpoint");
  const Cursor address = inner.at("address");
  if (inner && !address) inner.missing("address");
  const bool good = address && read_address(address, host_form(out), endpoint.address);
  inner.read("hostname", endpoint.hostname);
  inner.no_other_keys("Endpoint");
  c.read("load_balancing_weight", endpoint.weight, kWeights);
  c.no_other_keys("LbEndpoint");
  if (good) out.endpoints.push_back(std::move(endpoint));
}

// The number of localities that have hosts, by priority.
using Localities = std::map<std::uint32_t, int>;

void read_locality(Cursor c, Localities& localities, Cluster& out) {
  if (!c.is_mapping_or_error()) return;
  std::uint32_t priority = 0;
  c.read("priority", priority, kPriorities);
  for (const Cursor& item : c.list("lb_endpoints")) read_lb_endpoint(item, priority, out);
  c.no_other_keys("LocalityLbEndpoints");
  ++localities[priority];
}

void read_load_assignment(Cursor c, bool weighted_localities, Cluster& out) {
  std::string ignored_name;
  if (!c.has("cluster_name")) c.missing("cluster_name");
  c.read("cluster_name", ignored_name);
  Localities localities;
  for (const Cursor& item : c.list("endpoints")) read_locality(item, localities, out);
  if (Cursor policy = c.object("policy")) policy.no_other_keys("LoadAssignmentPolicy");
  c.no_other_keys("ClusterLoadAssignment");
  const bool several =
      std::any_of(localities.begin(), localities.end(), [](const auto& l) { return l.second > 1; });
  if (weighted_localities && several) c.unsupported("weights of localities");
}

void read_short_endpoint(Cursor c, Cluster& out) {
  ClusterEndpoint endpoint;
  bool good = false;
  if (c.is_mapping()) {
    if (!c.has("address")) c.missing("address");
    const Cursor address = c.at("address");
    good = address && read_address(address, HostForm::kIpOrName, endpoint.address);
    c.read("weight", endpoint.weight, kWeights);
    c.read("priority", endpoint.priority, kPriorities);
    c.read("hostname", endpoint.hostname);
    c.no_other_keys("ShortEndpoint");
  } else {
    good = read_address(c, HostForm::kIpOrName, endpoint.address);
  }
  if (good) out.endpoints.push_back(std::move(endpoint));
}

bool needs_dns(const ClusterEndpoint& e) {
  return !e.address.is_unix() && !is_ip_address(e.address.host);
}

void choose_type(Cursor& cluster, const std::vector<Cursor>& items, Cluster& out) {
  const auto name = std::find_if(out.endpoints.begin(), out.endpoints.end(), needs_dns);
  if (name == out.endpoints.end()) return;
  if (!cluster.has("type") && !cluster.has("cluster_type")) {
    out.type = Cluster::Type::kStrictDns;
  } else if (out.type == Cluster::Type::kStatic) {
    items.front().error(
        "\"" + name->address.host + "\" is a name, which type: STATIC does not look up",
        "leave type out, or write STRICT_DNS");
  }
}

}  // namespace

void read_endpoints(Cursor& cluster, Cluster& out) {
  cluster.one_of({"load_assignment", "endpoints"}, false);
  Cursor lb = cluster.object("common_lb_config");
  if (const Cursor assignment = cluster.object("load_assignment")) {
    read_load_assignment(assignment, lb.has("locality_weighted_lb_config"), out);
    if (out.type == Cluster::Type::kLogicalDns && out.endpoints.size() > 1) {
      assignment.error("LOGICAL_DNS takes one endpoint");
    }
  }
  const auto items = cluster.list("endpoints");
  for (const Cursor& item : items) read_short_endpoint(item, out);
  if (!items.empty()) choose_type(cluster, items, out);
}

}  // namespace damper::config
