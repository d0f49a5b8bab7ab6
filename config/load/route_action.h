// What a route does with a request that it forwards. Envoy config.route.v3.RouteAction.
#pragma once
#include "config/cursor.h"
#include "config/model/route.h"

namespace damper::config {

RouteAction read_route_action(Cursor c);
RegexRewrite read_regex_rewrite(Cursor c);
// upgrade_configs, of a route or a connection manager: is websocket on? Nothing: not said.
std::optional<bool> read_upgrades(const std::vector<Cursor>& items);

}  // namespace damper::config
