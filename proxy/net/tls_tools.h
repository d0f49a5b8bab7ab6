// What TLS settings need of the rest of the program when they are compiled.
#pragma once
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "config/model/tls.h"

namespace damper::net {

class SystemRoots;

using TextMatch = std::function<bool(std::string_view)>;

struct TlsTools {
  // Compiles what a name is compared with: regular expressions have their home elsewhere.
  std::function<Result<TextMatch>(const config::StringMatch&)> text_match;
  // Read a secret again that stands in a file of its own.
  std::function<Result<config::TlsCertificate>(const config::SecretFile&)> certificate_secret;
  std::function<Result<config::TlsValidation>(const config::SecretFile&)> validation_secret;
  std::shared_ptr<SystemRoots> system_roots;
};

}  // namespace damper::net
