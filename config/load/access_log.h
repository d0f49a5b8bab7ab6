// Access logs: Envoy's file, stdout and stderr loggers with their filters, and the short forms.
#pragma once
#include "config/cursor.h"
#include "config/model/log.h"

namespace damper::config {

// access_log: a list of loggers; or in short `stdout`, `stderr`, `json`, a path, { path, format,
// json, filter }.
std::vector<AccessLog> read_access_logs(const Cursor& c);

}  // namespace damper::config
