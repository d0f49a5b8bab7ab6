#include "config/load/bootstrap.h"

#include <algorithm>
#include <map>

#include "config/load/access_log.h"
#include "config/load/cluster.h"
#include "config/load/common.h"
#include "config/load/listener.h"
#include "config/load/secrets.h"

namespace damper::config {
namespace {

// What is taken already, by its text, and who has it.
using Taken = std::map<std::string, std::string>;

Node read_node(Cursor c) {
  Node out;
  c.read("id", out.id);
  c.read("cluster", out.cluster);
  c.no_other_keys("Node");
  return out;
}

Admin read_admin(Cursor c) {
  Admin out;
  if (!c.has("address")) c.missing("address");
  if (const Cursor address = c.at("address")) read_address(address, HostForm::kIp, out.address);
  out.access_logs = read_access_logs(c.at("access_log"));
  std::string path;
  c.read("access_log_path", path);
  if (!path.empty()) out.access_logs.push_back({.path = path, .text_format = {}});
  c.no_other_keys("Admin");
  return out;
}

void take_address(const Cursor& c, const Endpoint& address, const std::string& owner,
                  Taken& taken) {
  const bool any_port = !address.is_unix() && address.port == 0;
  if (any_port || address == Endpoint{}) return;
  const auto [first, added] = taken.emplace(address.to_string(), owner);
  if (!added) c.error("address " + first->first + " is taken by " + first->second);
}

template <class Named>
void check_name(const Cursor& c, std::string_view what, const std::string& name,
                const std::vector<Named>& others) {
  const auto same = [&](const Named& other) { return other.name == name; };
  if (!c.has("name") || !std::any_of(others.begin(), others.end(), same)) return;
  c.error("a second " + std::string(what) + " named \"" + name + "\"");
}

void read_listeners(const std::vector<Cursor>& items, Taken& addresses, Bootstrap& out) {
  for (const Cursor& item : items) {
    Listener listener = read_listener(item);
    const std::string owner = "listener \"" + listener.name + "\"";
    check_name(item, "listener", listener.name, out.listeners);
    take_address(item, listener.address, owner, addresses);
    for (const Endpoint& address : listener.additional_addresses)
      take_address(item, address, owner, addresses);
    out.listeners.push_back(std::move(listener));
  }
}

void read_clusters(const std::vector<Cursor>& items, Bootstrap& out) {
  for (const Cursor& item : items) {
    Cluster cluster = read_cluster(item);
    check_name(item, "cluster", cluster.name, out.clusters);
    out.clusters.push_back(std::move(cluster));
  }
}

void read_resources(Cursor& c, Taken& addresses, Bootstrap& out) {
  read_listeners(c.list("listeners"), addresses, out);
  read_clusters(c.list("clusters"), out);
}

// Runtime keys change nothing here; layers that would be fetched are more than we can ignore.
void read_layered_runtime(Cursor c) {
  if (!c) return;
  c.without_effect("has no effect here: there is no runtime");
  for (Cursor layer : c.list("layers")) {
    if (!layer.is_mapping_or_error()) continue;
    layer.at("name");
    layer.at("static_layer");
    layer.at("admin_layer");
    layer.no_other_keys("RuntimeLayer");
  }
  c.no_other_keys("LayeredRuntime");
}

}  // namespace

Bootstrap read_bootstrap(Cursor c) {
  Bootstrap out;
  if (!c.is_mapping_or_error()) return out;
  if (const Cursor node = c.object("node")) out.node = read_node(node);
  Taken addresses;
  if (const Cursor admin = c.object("admin")) {
    out.admin = read_admin(admin);
    take_address(admin, out.admin->address, "admin", addresses);
  }
  read_layered_runtime(c.object("layered_runtime"));
  if (Cursor resources = c.object("static_resources")) {
    read_secrets(resources.list("secrets"));
    read_resources(resources, addresses, out);
    resources.no_other_keys("StaticResources");
  }
  read_resources(c, addresses, out);
  c.no_other_keys("Bootstrap");
  return out;
}

}  // namespace damper::config
