// What goes along through one load: the list of what is to be said, and notes for the checks that
// need the whole.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "config/model/cluster.h"
#include "config/model/route.h"

namespace damper::config {

// Says what is wrong with a regular expression; nothing if it compiles. RE2 has its home elsewhere.
using PatternCheck = std::function<std::optional<std::string>(const std::string& pattern)>;
using RewriteCheck = std::function<std::optional<std::string>(const RegexRewrite&)>;

// Says what is wrong with a cipher suite or a curve; nothing if it is known. OpenSSL has its home
// elsewhere, so the loader is told.
using NameCheck = std::function<std::optional<std::string>(const std::string& name)>;

// What comes of reading the files that a TLS context names.
struct TlsFindings {
  std::optional<std::string> error;
  std::vector<std::string> warnings;
};

struct TlsChecks {  // empty ones: nobody does it here
  NameCheck cipher;
  NameCheck curve;
  std::function<TlsFindings(const DownstreamTls&)> server;
  std::function<TlsFindings(const UpstreamTls&)> client;
};

// Envoy's Secret; it has one of the two.
struct Secret {
  std::string name;
  std::optional<TlsCertificate> certificate;
  std::optional<TlsValidation> validation;
};

struct Mention {
  Place place;
  std::string path;
};

// A route's retries, with what they depend on.
struct RetryUse {
  Mention at;
  RetryPolicy policy;
  Duration timeout{};  // of the route; 0: none
};

struct Mentions {
  std::vector<std::pair<std::string, Mention>> cluster_names;  // that routes name
  std::vector<RetryUse> retries;
  std::vector<std::pair<RetryPolicy, Mention>> policies;  // wherever one is written
  std::vector<std::pair<Thresholds, Mention>> thresholds;
  std::vector<std::pair<LayerRole, Mention>> layers;
};

struct Session {
  Diagnostics& diagnostics;
  PatternCheck check_pattern;
  RewriteCheck check_rewrite;
  TlsChecks tls;
  std::vector<Secret> secrets{};  // of static_resources
  Mentions mentions{};
};

}  // namespace damper::config
