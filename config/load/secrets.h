// Certificates, keys and roots: where they stand, in the configuration or in files.
#pragma once
#include "base/result.h"
#include "config/cursor.h"
#include "config/model/tls.h"

namespace damper::config {

bool read_pem_source(Cursor c, PemSource& out);  // Envoy DataSource
TlsCertificate read_tls_certificate(Cursor c);
TlsValidation read_tls_validation(Cursor c);  // CertificateValidationContext

// Envoy SdsSecretConfig: a secret of static_resources.secrets by its name, or one in a file.
std::optional<TlsCertificate> read_certificate_reference(Cursor c);
std::optional<TlsValidation> read_validation_reference(Cursor c);

// static_resources.secrets, before whoever refers to them.
void read_secrets(const std::vector<Cursor>& items);

// A secret in a file of its own, read on its own: after the file has changed.
Result<TlsCertificate> load_certificate_secret(const SecretFile& secret);
Result<TlsValidation> load_validation_secret(const SecretFile& secret);

}  // namespace damper::config
