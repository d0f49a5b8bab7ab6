#include "net/tls_credentials.h"

#include <ctime>
#include <openssl/pem.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

namespace damper::net {
namespace {

constexpr std::size_t kLargestFile = 8u << 20;  // the system's bundle has a quarter of a megabyte

Error bad(std::string what) { return {Errc::kInvalid, Side::kLocal, std::move(what)}; }

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    ++n;
  return n;
}

// `what`: "certificate", "private key".
Result<std::string> read_pem(const config::PemSource& source, const std::string& what) {
  std::string text = source.text;
  if (!source.file.empty()) {
    auto read = read_file(source.file, kLargestFile);
    if (!read) return bad(what + " " + source.name() + " cannot be read: " + read.error().detail);
    text = *std::move(read);
  }
  if (count(text, "-----BEGIN ") != count(text, "-----END ")) {
    return bad(what + " " + source.name() + " ends in the middle: a part of the PEM is missing");
  }
  return text;
}

BioPtr reader_of(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<X509ListPtr> read_certificates(const config::PemSource& source, const std::string& what) {
  TRY_ASSIGN(const std::string text, read_pem(source, what));
  const BioPtr in = reader_of(text);
  X509ListPtr out(sk_X509_new_null());
  while (X509* next = PEM_read_bio_X509_AUX(in.get(), nullptr, nullptr, nullptr)) {
    sk_X509_push(out.get(), next);
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string why = take_openssl_reason();
  if (!at_end) return bad(what + " " + source.name() + " is not readable PEM: " + why);
  if (sk_X509_num(out.get()) == 0) return bad(source.name() + " holds no certificate (PEM)");
  return out;
}

// OpenSSL asks for a passphrase only if it needs one.
int refuse_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Result<KeyPtr> read_key(const config::PemSource& source) {
  TRY_ASSIGN(const std::string text, read_pem(source, "private key"));
  const BioPtr in = reader_of(text);
  bool encrypted = false;
  KeyPtr key(PEM_read_bio_PrivateKey(in.get(), nullptr, &refuse_passphrase, &encrypted));
  const std::string why = take_openssl_reason();
  if (encrypted) {
    return bad("private key " + source.name() +
               " is encrypted: keys with a passphrase are not supported");
  }
  if (!key) return bad(source.name() + " holds no private key that can be used (PEM): " + why);
  return key;
}

WallTime time_of(const ASN1_TIME* time) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(time, &utc) != 1) return {};
  return std::chrono::time_point_cast<WallTime::duration>(
      std::chrono::system_clock::from_time_t(timegm(&utc)));
}

std::string serial_of(const X509* certificate) {
  BIGNUM* number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr);
  char* digits = BN_bn2hex(number);
  std::string out = lower(digits ? digits : "");
  OPENSSL_free(digits);
  BN_free(number);
  return out;
}

std::string common_name(const X509* certificate) {
  char name[256] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  return name;
}

}  // namespace

CertificateFacts facts_of(const X509* certificate, std::string source) {
  CertificateFacts out;
  out.source = std::move(source);
  out.subject = text_of(X509_get_subject_name(certificate));
  out.serial = serial_of(certificate);
  out.dns_sans = subject_alt_names(certificate, GEN_DNS);
  out.uri_sans = subject_alt_names(certificate, GEN_URI);
  out.ip_sans = subject_alt_names(certificate, GEN_IPADD);
  out.names = out.dns_sans;
  if (out.names.empty()) out.names.push_back(common_name(certificate));
  out.not_before = time_of(X509_get0_notBefore(certificate));
  out.not_after = time_of(X509_get0_notAfter(certificate));
  forget_errors();
  return out;
}

Result<Credentials> load_credentials(const config::TlsCertificate& source) {
  Credentials out;
  TRY_ASSIGN(out.chain, read_certificates(source.chain, "certificate"));
  TRY_ASSIGN(out.key, read_key(source.key));
  out.certificate.reset(sk_X509_shift(out.chain.get()));
  if (X509_check_private_key(out.certificate.get(), out.key.get()) != 1) {
    ERR_clear_error();
    return bad("private key " + source.key.name() + " does not belong to certificate " +
               source.chain.name());
  }
  out.facts = facts_of(out.certificate.get(), source.chain.file);
  if (source.secret) out.facts.secret = source.secret->name;
  return out;
}

Result<Roots> load_roots(const config::PemSource& source) {
  Roots out;
  TRY_ASSIGN(out.certificates, read_certificates(source, "CA certificate"));
  out.store.reset(X509_STORE_new());
  for (int i = 0; i < sk_X509_num(out.certificates.get()); ++i) {
    X509_STORE_add_cert(out.store.get(), sk_X509_value(out.certificates.get(), i));
  }
  forget_errors();
  return out;
}

Result<StorePtr> SystemRoots::get() {
  const std::lock_guard lock(mu_);
  if (!store_) {
    store_.reset(X509_STORE_new());
    X509_STORE_set_default_paths(store_.get());
    if (sk_X509_OBJECT_num(X509_STORE_get0_objects(store_.get())) == 0) {
      log::warn("no_system_roots file={} directory={}", X509_get_default_cert_file(),
                X509_get_default_cert_dir());
    }
    forget_errors();
  }
  X509_STORE_up_ref(store_.get());
  return StorePtr(store_.get());
}

}  // namespace damper::net
