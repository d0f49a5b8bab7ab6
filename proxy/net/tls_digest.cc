#include "net/tls_digest.h"

#include "base/check.h"
#include "net/tls_openssl.h"

namespace damper::net {
namespace {

std::string digest_base64(const EVP_MD* algorithm, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  DAMPER_CHECK(EVP_Digest(text.data(), text.size(), digest, &length, algorithm, nullptr) == 1);
  return base64({reinterpret_cast<const char*>(digest), length});
}

}  // namespace

std::string base64(std::string_view octets) {
  std::string out((octets.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock ends it with a NUL
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                  reinterpret_cast<const unsigned char*>(octets.data()),
                  static_cast<int>(octets.size()));
  out.pop_back();
  return out;
}

std::string sha1_base64(std::string_view text) { return digest_base64(EVP_sha1(), text); }

std::string sha256_base64(std::string_view text) { return digest_base64(EVP_sha256(), text); }

}  // namespace damper::net
