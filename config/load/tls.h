// TLS of listeners and clusters: transport_socket, and the short form tls.
#pragma once
#include "config/cursor.h"
#include "config/model/cluster.h"
#include "config/model/listener.h"

namespace damper::config {

// transport_socket of a filter chain; nothing: plain.
std::optional<DownstreamTls> read_downstream_socket(Cursor c);
// { cert, key, ca, verify_client, … }. What is offered by ALPN follows from the codec.
std::optional<DownstreamTls> read_short_downstream_tls(Cursor c, CodecType codec);

// transport_socket or tls of a cluster. To be called before its protocol is read, which may say
// more about names.
void read_upstream_tls(Cursor& cluster, Cluster& out);
// auto_sni and auto_san_validation of HttpProtocolOptions.
void read_auto_sni(Cursor c, Cluster& out);

}  // namespace damper::config
