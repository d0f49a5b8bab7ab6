// route_config: virtual hosts, routes and what they do. Envoy config.route.v3.
#pragma once
#include "config/cursor.h"
#include "config/model/route.h"

namespace damper::config {

RouteConfig read_route_config(Cursor c, const std::string& default_name);
// The short forms: virtual_hosts without their envelope, and routes of one virtual host "*".
std::vector<VirtualHost> read_virtual_hosts(const std::vector<Cursor>& items,
                                            const std::string& default_name);
VirtualHost read_only_virtual_host(Cursor& owner, const std::string& name);

}  // namespace damper::config
