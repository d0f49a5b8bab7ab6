#include "net/tls_openssl.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>

namespace damper::net {
namespace {

std::string with_underscores(std::string_view text) {
  std::string out(text);
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

std::string_view reason_of(unsigned long code) {
  const char* reason = ERR_reason_error_string(code);
  return reason ? reason : "unknown error";
}

std::string address_text(const ASN1_OCTET_STRING* address) {
  char text[INET6_ADDRSTRLEN] = "";
  const int length = ASN1_STRING_length(address);
  if (length != 4 && length != 16) return {};
  inet_ntop(length == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text, sizeof text);
  return text;
}

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string text_of(const GENERAL_NAME* name) {
  if (name->type == GEN_IPADD) return address_text(name->d.iPAddress);
  return text_of(name->d.ia5);  // DNS names, URIs and e-mail addresses are of one kind
}

}  // namespace

std::string take_openssl_reason() {
  const std::string reason(reason_of(ERR_peek_error()));
  ERR_clear_error();
  return reason;
}

std::string take_tls_error(std::string_view more) {
  const unsigned long code = ERR_peek_error();
  const char* library = ERR_lib_error_string(code);
  std::string reason = with_underscores(reason_of(code));
  ERR_clear_error();
  std::transform(reason.begin(), reason.end(), reason.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string out = "TLS_error:|" + std::to_string(code) + ":" +
                    with_underscores(library ? library : "unknown library") + "::" + reason;
  if (!more.empty()) out += ":" + with_underscores(more);
  return out + ":TLS_error_end";
}

std::vector<std::string> subject_alt_names(const X509* certificate, int kind) {
  std::vector<std::string> out;
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == kind) out.push_back(text_of(name));
  }
  return out;
}

std::string text_of(const X509_NAME* name) {
  const BioPtr text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long length = BIO_get_mem_data(text.get(), &bytes);
  return {bytes, static_cast<std::size_t>(length)};
}

}  // namespace damper::net
