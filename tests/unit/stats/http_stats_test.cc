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

TEST(HttpStats, RefusalsOfAdmissionAreCountedByReason) {
  Registry r;
  Cells& cells = r.new_cells();
  HttpStats stats(r, "ingress");
  using Reason = AdmissionStats::Reason;
  cells.add(stats.admission.rejected(Reason::kQueueFull), 1);
  cells.add(stats.admission.rejected(Reason::kMaxWait), 2);
  cells.add(stats.admission.rejected(Reason::kDeadline), 3);
  cells.add(stats.admission.shadow_rejected(Reason::kDeadline), 4);
  EXPECT_EQ(r.text("admission.", true),
            "http.ingress.admission.rejected.deadline: 3\n"
            "http.ingress.admission.rejected.max_wait: 2\n"
            "http.ingress.admission.rejected.queue_full: 1\n"
            "http.ingress.admission.shadow_rejected.deadline: 4\n");
  EXPECT_NE(r.prometheus("admission.rejected.max_wait", true)
                .find("damper_http_admission_rejected{envoy_http_conn_manager_prefix=\"ingress\","
                      "reason=\"max_wait\"} 2"),
            std::string::npos);
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
