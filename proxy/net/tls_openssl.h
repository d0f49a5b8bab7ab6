// OpenSSL's objects as owned values, and its errors as text. For net/tls_* alone.
//
// The error queue is the thread's, and a stale entry makes a later call that only wants to read
// look broken. So each function that may leave one clears it before it returns, and the transport
// looks (which is cheap) before it calls.
#pragma once
#include <memory>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string>
#include <string_view>
#include <vector>

namespace damper::net {

template <auto Free>
struct FreeBy {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

inline void free_certificates(STACK_OF(X509) * list) { sk_X509_pop_free(list, X509_free); }

using BioPtr = std::unique_ptr<BIO, FreeBy<BIO_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, FreeBy<GENERAL_NAMES_free>>;
using SessionPtr = std::unique_ptr<SSL_SESSION, FreeBy<SSL_SESSION_free>>;
using SslCtxPtr = std::unique_ptr<SSL_CTX, FreeBy<SSL_CTX_free>>;
using SslPtr = std::unique_ptr<SSL, FreeBy<SSL_free>>;
using StorePtr = std::unique_ptr<X509_STORE, FreeBy<X509_STORE_free>>;
using X509Ptr = std::unique_ptr<X509, FreeBy<X509_free>>;
using X509ListPtr = std::unique_ptr<STACK_OF(X509), FreeBy<free_certificates>>;

inline void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

// What went wrong first ("certificate verify failed"); the queue is empty afterwards.
std::string take_openssl_reason();

// The same for logs, as Envoy writes it:
// "TLS_error:|167772294:SSL_routines::CERTIFICATE_VERIFY_FAILED:<more>:TLS_error_end".
std::string take_tls_error(std::string_view more);

// The names of a certificate of one kind (GEN_DNS, GEN_URI, GEN_EMAIL, GEN_IPADD) as text.
std::vector<std::string> subject_alt_names(const X509* certificate, int kind);
std::string text_of(const X509_NAME* name);  // RFC 2253

}  // namespace damper::net
