#include "tests/support/certificates.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/check.h"
#include "net/tls_openssl.h"
#include "net/tls_verify.h"

namespace damper::tests {
namespace {

std::shared_ptr<EVP_PKEY> make_key(Wanted::Key kind) {
  EVP_PKEY* key = kind == Wanted::Key::kEc ? EVP_EC_gen("P-256") : EVP_RSA_gen(2048U);
  DAMPER_CHECK(key);
  return {key, EVP_PKEY_free};
}

template <class Write>
std::string pem_of(Write write) {
  const net::BioPtr out(BIO_new(BIO_s_mem()));
  DAMPER_CHECK(write(out.get()) == 1);
  char* bytes = nullptr;
  const long length = BIO_get_mem_data(out.get(), &bytes);
  return {bytes, static_cast<std::size_t>(length)};
}

std::string key_pem(EVP_PKEY* key) {
  return pem_of([&](BIO* out) {
    return PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string certificate_pem(X509* certificate) {
  return pem_of([&](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  DAMPER_CHECK(extension);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Signed by the issuer; without one, by itself.
std::shared_ptr<X509> make_certificate(const Wanted& wanted, EVP_PKEY* key, X509* issuer,
                                       EVP_PKEY* issuer_key) {
  static int serial = 0;
  std::shared_ptr<X509> out(X509_new(), X509_free);
  X509_set_version(out.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(out.get()), ++serial);
  constexpr long kHour = 3600;
  X509_gmtime_adj(X509_getm_notBefore(out.get()), wanted.days < 0 ? -48 * kHour : -kHour);
  X509_gmtime_adj(X509_getm_notAfter(out.get()), wanted.days * 24 * kHour);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(out.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(wanted.name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(out.get(), X509_get_subject_name(issuer ? issuer : out.get()));
  X509_set_pubkey(out.get(), key);
  if (wanted.is_ca) add_extension(out.get(), NID_basic_constraints, "critical,CA:TRUE");
  std::string names;
  for (const std::string& name : wanted.alt_names) names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) add_extension(out.get(), NID_subject_alt_name, names);
  DAMPER_CHECK(X509_sign(out.get(), issuer_key, EVP_sha256()) > 0);
  return out;
}

std::shared_ptr<X509> parse(const std::string& pem) {
  const net::BioPtr in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return {PEM_read_bio_X509(in.get(), nullptr, nullptr, nullptr), X509_free};
}

}  // namespace

Authority::Authority(const std::string& name)
    : key_(make_key(Wanted::Key::kEc)),
      certificate_(
          make_certificate({.name = name, .is_ca = true}, key_.get(), nullptr, key_.get())),
      pem_(certificate_pem(certificate_.get())) {}

Pair Authority::issue(const Wanted& wanted) const {
  const auto key = make_key(wanted.key);
  const auto made = make_certificate(wanted, key.get(), certificate_.get(), key_.get());
  return {certificate_pem(made.get()), key_pem(key.get())};
}

Pair self_signed(const Wanted& wanted) {
  const auto key = make_key(wanted.key);
  return {certificate_pem(make_certificate(wanted, key.get(), nullptr, key.get()).get()),
          key_pem(key.get())};
}

std::string encrypted_key() {
  const auto key = make_key(Wanted::Key::kEc);
  return pem_of([&](BIO* out) {
    return PEM_write_bio_PKCS8PrivateKey(out, key.get(), EVP_aes_128_cbc(), "secret", 6, nullptr,
                                         nullptr);
  });
}

std::string sha256_of(const std::string& pem) { return net::sha256_hex(parse(pem).get()); }
std::string spki_of(const std::string& pem) { return net::spki_sha256_base64(parse(pem).get()); }

Folder::Folder() {
  std::string name = std::filesystem::temp_directory_path() / "damper-XXXXXX";
  DAMPER_CHECK(mkdtemp(name.data()));
  path_ = name;
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

std::string Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

void Folder::make(const std::string& folder) const {
  std::filesystem::create_directory(path(folder));
}

void Folder::link(const std::string& name, const std::string& to) const {
  std::filesystem::create_symlink(to, path(name + ".new"));
  std::filesystem::rename(path(name + ".new"), path(name));
}

}  // namespace damper::tests
