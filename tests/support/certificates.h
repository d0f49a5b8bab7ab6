// Certificates that a test makes for itself, and a folder to put them in.
#pragma once
#include <memory>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <string>
#include <vector>

namespace damper::tests {

struct Pair {  // PEM
  std::string certificate;
  std::string key;
};

struct Wanted {
  std::string name = "test";             // the common name
  std::vector<std::string> alt_names{};  // "DNS:a.test", "URI:spiffe://x", "IP:127.0.0.1"
  enum class Key { kEc, kRsa } key = Key::kEc;
  int days = 1;  // from an hour ago; below 0: it has expired
  bool is_ca = false;
};

class Authority {
 public:
  explicit Authority(const std::string& name = "test ca");
  Pair issue(const Wanted& wanted) const;
  const std::string& pem() const { return pem_; }

 private:
  std::shared_ptr<EVP_PKEY> key_;
  std::shared_ptr<X509> certificate_;
  std::string pem_;
};

Pair self_signed(const Wanted& wanted);
std::string encrypted_key();  // PEM with a passphrase

// Of a certificate in PEM.
std::string sha256_of(const std::string& pem);
std::string spki_of(const std::string& pem);

// Goes with everything in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const;  // its path
  void make(const std::string& folder) const;
  void link(const std::string& name, const std::string& to) const;  // in one step, as kubelet does

 private:
  std::string path_;
};

}  // namespace damper::tests
