#include "stats/http_stats.h"

#include <gtest/gtest.h>

namespace damper::stats {
namespace {

TEST(HttpStats, NamesAreEnvoys) {
  Registry r;
  HttpStats stats(r, "ingress");
  const std::string text = r.text("", false);
  for (const char* name : {"downstream_cx_total",
                           "downstream_cx_active",
                           "downstream_cx_destroy",
                           "downstream_cx_idle_timeout",
                           "downstream_cx_overflow",
                           "downstream_cx_protocol_error",
                           "downstream_cx_rx_bytes_total",
                           "downstream_cx_tx_bytes_total",
                           "downstream_rq_total",
                           "downstream_rq_active",
                           "downstream_rq_1xx",
                           "downstream_rq_2xx",
                           "downstream_rq_3xx",
                           "downstream_rq_4xx",
                           "downstream_rq_5xx",
                           "downstream_rq_completed",
                           "downstream_rq_rx_reset",
                           "downstream_rq_timeout",
                           "downstream_rq_idle_timeout",
                           "downstream_rq_header_timeout",
                           "downstream_rq_too_large",
                           "downstream_rq_time",
                           "rq_direct_response",
                           "rq_redirect",
                           "no_route",
                           "no_cluster"}) {
    EXPECT_NE(text.find(std::string("http.ingress.") + name + ": "), std::string::npos) << name;
  }
}

TEST(HttpStats, PrometheusLabelsThePrefixAndTheClassOfTheCode) {
  Registry r;
  Cells& cells = r.new_cells();
  HttpStats stats(r, "ingress");
  stats.downstream_rq.count(cells, 204);
  EXPECT_EQ(r.prometheus("downstream_rq_2xx", true),
            "# TYPE envoy_http_downstream_rq_xx counter\n"
            "envoy_http_downstream_rq_xx{envoy_http_conn_manager_prefix=\"ingress\","
            "envoy_response_code_class=\"2\"} 1\n");
}

TEST(HttpStats, TwoListenersOfOnePrefixShareTheirStatistics) {
  Registry r;
  Cells& cells = r.new_cells();
  HttpStats one(r, "ingress"), two(r, "ingress");
  cells.add(one.no_route);
  EXPECT_EQ(r.value(two.no_route), 1u);
}

}  // namespace
}  // namespace damper::stats
