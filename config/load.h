// From a file, or a text, to a checked configuration.
#pragma once
#include <memory>
#include <string>

#include "config/diagnostics.h"
#include "config/model/bootstrap.h"
#include "config/session.h"

namespace damper::config {

struct Loaded {
  std::shared_ptr<const Bootstrap> bootstrap;  // null if there is an error
  std::string json;                            // what was written, overlay included
  Diagnostics diagnostics;
};

struct LoadOptions {
  // Compile regular expressions and what they are replaced by; empty: nobody does it here.
  PatternCheck check_pattern;
  RewriteCheck check_rewrite;
  TlsChecks tls;  // read the certificates that are named
  // A second text that is laid over the first (--config-yaml): messages are merged, lists are
  // joined, values replaced.
  std::string overlay;
};

Loaded load_file(const std::string& path, const LoadOptions& options = {});
Loaded load_text(std::string name, std::string text, const LoadOptions& options = {});

}  // namespace damper::config
