// The whole configuration of one process, checked. Immutable once published.
#pragma once
#include "config/model/cluster.h"
#include "config/model/listener.h"

namespace damper::config {

struct Node {
  std::string id;
  std::string cluster;
  bool operator==(const Node&) const = default;
};

struct Admin {
  Endpoint address;
  std::vector<AccessLog> access_logs;
  bool operator==(const Admin&) const = default;
};

struct Bootstrap {
  Node node;
  std::optional<Admin> admin;
  std::vector<Listener> listeners;
  std::vector<Cluster> clusters;
  bool operator==(const Bootstrap&) const = default;

  const Cluster* find_cluster(std::string_view name) const {
    for (const Cluster& c : clusters) {
      if (c.name == name) return &c;
    }
    return nullptr;
  }
};

}  // namespace damper::config
