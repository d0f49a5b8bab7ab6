#include "stats/http_stats.h"

namespace damper::stats {

HttpStats::HttpStats(Registry& registry, std::string_view stat_prefix)
    : scope_(registry, "http." + std::string(stat_prefix) + ".", "http.",
             {"envoy_http_conn_manager_prefix", std::string(stat_prefix)}) {}

}  // namespace damper::stats
