#include "stats/http_stats.h"

namespace damper::stats {
namespace {

Scope http_scope(Registry& registry, std::string_view stat_prefix, std::string_view family) {
  return {registry,
          "http." + std::string(stat_prefix) + ".",
          std::string(family),
          {"envoy_http_conn_manager_prefix", std::string(stat_prefix)}};
}

}  // namespace

HttpStats::HttpStats(Registry& registry, std::string_view stat_prefix)
    : scope_(http_scope(registry, stat_prefix, "http.")),
      admission(http_scope(registry, stat_prefix, "damper.http.").sub("admission.")) {}

}  // namespace damper::stats
