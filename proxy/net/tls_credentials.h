// Certificates, keys and roots as files or as text, checked whole before they are used.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/model/tls.h"
#include "net/tls_facts.h"
#include "net/tls_openssl.h"

namespace damper::net {

// A certificate with its key and the intermediates that go along.
struct Credentials {
  X509Ptr certificate;
  X509ListPtr chain;
  KeyPtr key;
  CertificateFacts facts;
};

// Errors name the file: it cannot be read, is no PEM or half of one, the key needs a passphrase,
// the key is of another certificate.
Result<Credentials> load_credentials(const config::TlsCertificate& source);

struct Roots {
  StorePtr store;
  X509ListPtr certificates;  // empty: the system's
};
Result<Roots> load_roots(const config::PemSource& source);

CertificateFacts facts_of(const X509* certificate, std::string source);

// The system's CA certificates: 41 ms and 8 MB, so they are read when the first cluster asks, and
// shared.
class SystemRoots {
 public:
  Result<StorePtr> get();  // thread-safe

 private:
  std::mutex mu_;
  StorePtr store_;
};

}  // namespace damper::net
