// /certs: the certificates that are shown and the roots that are trusted, in the shape of Envoy's
// admin.v3.Certificates.
#pragma once
#include <string>

#include "base/time.h"

namespace damper::server {

struct Snapshot;

std::string certs_json(const Snapshot& snapshot, WallTime now);

}  // namespace damper::server
