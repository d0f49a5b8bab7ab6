// What must be true of a proxy once everybody has left: nothing is open, running or waiting, and
// each request stands in the log.
#pragma once
#include "tests/support/log_file.h"
#include "tests/support/running_proxy.h"

namespace damper::tests {

// Of the listener "in" and the cluster "app", after the clients and the upstream are gone.
void expect_nothing_left(const RunningProxy& proxy, const LogFile& log);

// The same where clients and the upstream are still there, with nothing to do.
void expect_no_requests_left(const RunningProxy& proxy);

}  // namespace damper::tests
