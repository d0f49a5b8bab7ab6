// What TLS needs of other folders, tied together: regular expressions of route/, the loader of
// config/ for secrets that stand in files.
#pragma once
#include <string>
#include <vector>

#include "config/session.h"
#include "net/tls_context.h"

namespace damper::server {

struct Snapshot;

net::TlsTools make_tls_tools();

// For the loader: reads what a context names and checks it whole.
config::TlsChecks tls_checks();

// A listener or a cluster with TLS.
struct TlsParty {
  bool is_listener;
  std::string name;  // in statistics: "127.0.0.1_8443", "orders"
  net::TlsRotation* rotation;
};
std::vector<TlsParty> tls_parties(const Snapshot& snapshot);

// Looks for files that have changed, and takes them; says in the log what came of it.
void refresh_certificates(const Snapshot& snapshot);

}  // namespace damper::server
