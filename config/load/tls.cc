#include "config/load/tls.h"

#include <algorithm>

#include "base/text.h"
#include "config/load/common.h"
#include "config/load/secrets.h"
#include "config/session.h"

namespace damper::config {
namespace {

constexpr std::string_view kRawBuffer =
    "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer";
constexpr std::string_view kDownstream =
    "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext";
constexpr std::string_view kUpstream =
    "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
constexpr std::size_t kLongestAlpn = 255;
constexpr std::size_t kLongestName = 255;

// --- What both sides have ------------------------------------------------------------------------

void read_alpn(const std::vector<Cursor>& items, std::vector<std::string>& out) {
  for (const Cursor& item : items) {
    std::string protocol;
    if (!item.get(protocol)) continue;
    if (protocol.empty() || protocol.size() > kLongestAlpn) {
      item.error("a protocol's name has 1 to 255 bytes");
    } else {
      out.push_back(std::move(protocol));
    }
  }
}

void add_if_known(const Cursor& item, const NameCheck& check, const std::string& name,
                  std::vector<std::string>& out) {
  const auto wrong = check ? check(name) : std::nullopt;
  if (wrong) return item.error(*wrong);
  out.push_back(name);
}

void read_checked_names(const std::vector<Cursor>& items, const NameCheck& check,
                        std::vector<std::string>& out) {
  for (const Cursor& item : items) {
    std::string name;
    if (!item.get(name)) continue;
    add_if_known(item, check, name, out);
  }
}

// Envoy writes suites of equal preference as one entry "[A|B]"; here they are two in that order.
void read_ciphers(const std::vector<Cursor>& items, std::vector<std::string>& out) {
  for (const Cursor& item : items) {
    std::string text;
    if (!item.get(text)) continue;
    const bool group = text.size() > 2 && text.front() == '[' && text.back() == ']';
    if (group) text = text.substr(1, text.size() - 2);
    const NameCheck& check = item.session().tls.cipher;
    for (const std::string_view name :
         group ? split(text, '|') : std::vector<std::string_view>{text}) {
      add_if_known(item, check, std::string(name), out);
    }
  }
}

void read_version(Cursor& c, std::string_view key, TlsVersion& out) {
  c.read_word<TlsVersion>(key, out,
                          {{"TLS_AUTO", TlsVersion::kAuto},
                           {"TLSv1_2", TlsVersion::kTls12},
                           {"TLSv1_3", TlsVersion::kTls13}});
}

void read_parameters(Cursor c, TlsSettings& out) {
  if (!c) return;
  read_version(c, "tls_minimum_protocol_version", out.min_version);
  read_version(c, "tls_maximum_protocol_version", out.max_version);
  if (out.min_version == TlsVersion::kTls13 && out.max_version == TlsVersion::kTls12)
    c.error("the least version is above the greatest");
  read_ciphers(c.list("cipher_suites"), out.ciphers);
  read_checked_names(c.list("ecdh_curves"), c.session().tls.curve, out.curves);
  c.no_other_keys("TlsParameters");
}

void read_combined_validation(Cursor c, TlsSettings& out) {
  if (!c) return;
  const Cursor defaults = c.object("default_validation_context");
  const Cursor reference = c.object("validation_context_sds_secret_config");
  if (!defaults) c.missing("default_validation_context");
  if (!reference) c.missing("validation_context_sds_secret_config");
  c.no_other_keys("CombinedCertificateValidationContext");
  if (!defaults || !reference) return;
  out.validation_defaults = read_tls_validation(defaults);
  if (auto secret = read_validation_reference(reference))
    out.validation = combine(*std::move(secret), *out.validation_defaults);
}

void read_validation(Cursor& c, TlsSettings& out) {
  c.one_of(
      {"validation_context", "validation_context_sds_secret_config", "combined_validation_context"},
      false);
  if (const Cursor validation = c.object("validation_context"))
    out.validation = read_tls_validation(validation);
  if (const Cursor reference = c.object("validation_context_sds_secret_config")) {
    if (auto secret = read_validation_reference(reference)) out.validation = *std::move(secret);
  }
  read_combined_validation(c.object("combined_validation_context"), out);
  if (!out.validation.names.empty() && !out.validation.has_roots()) {
    c.error("the peer's names are checked, and nothing says who may certify them",
            "add trusted_ca or system_root_certs");
  }
}

TlsSettings read_common_context(Cursor c) {
  TlsSettings out;
  read_parameters(c.object("tls_params"), out);
  c.one_of({"tls_certificates", "tls_certificate_sds_secret_configs"}, false);
  for (const Cursor& item : c.list("tls_certificates"))
    out.certificates.push_back(read_tls_certificate(item));
  for (const Cursor& item : c.list("tls_certificate_sds_secret_configs")) {
    if (auto secret = read_certificate_reference(item))
      out.certificates.push_back(*std::move(secret));
  }
  read_validation(c, out);
  read_alpn(c.list("alpn_protocols"), out.alpn);
  c.no_other_keys("CommonTlsContext");
  return out;
}

TlsSettings read_server_context(const Cursor& c) {
  if (!c.has("tls_certificates") && !c.has("tls_certificate_sds_secret_configs"))
    c.missing("tls_certificates");
  return read_common_context(c);
}

// The context behind transport_socket, if it is of the wanted kind; without a value: none.
Cursor socket_config(Cursor c, std::string_view wanted) {
  std::string name;
  c.read("name", name);
  Cursor config = c.object("typed_config");
  c.no_other_keys("TransportSocket");
  if (!config) {
    if (name != "envoy.transport_sockets.raw_buffer") c.missing("typed_config");
    return config;
  }
  const std::string type = read_type(config);
  if (type == wanted) return config;
  if (type != kRawBuffer && !type.empty())
    config.at("@type").unsupported("transport socket " + type);
  return Cursor(nullptr, c.path(), c.place(), c.session());
}

// What is incomplete has been reported.
bool is_complete(const TlsSettings& tls) {
  const auto whole = [](const TlsCertificate& c) { return !c.chain.empty() && !c.key.empty(); };
  const auto& roots = tls.validation.trusted_ca;
  return std::all_of(tls.certificates.begin(), tls.certificates.end(), whole) &&
         !(roots && roots->empty());
}

template <class Tls>
void read_files(const Cursor& c, const Tls& tls,
                const std::function<TlsFindings(const Tls&)>& check) {
  if (!check || !is_complete(tls.common)) return;
  const TlsFindings found = check(tls);
  if (found.error) c.error(*found.error);
  for (const std::string& warning : found.warnings) c.warning(warning);
}

// --- The short forms -----------------------------------------------------------------------------

void read_pem_file(Cursor& c, std::string_view key, PemSource& out) { c.read(key, out.file); }

// { cert, key }, both or neither.
std::optional<TlsCertificate> read_pair(Cursor& c) {
  TlsCertificate out;
  read_pem_file(c, "cert", out.chain);
  read_pem_file(c, "key", out.key);
  if (c.has("cert") && !c.has("key")) c.missing("key");
  if (c.has("key") && !c.has("cert")) c.missing("cert");
  if (out.chain.empty() || out.key.empty()) return std::nullopt;
  return out;
}

void read_short_version(Cursor& c, TlsSettings& out) {
  c.read_word<TlsVersion>("min_version", out.min_version,
                          {{"1.2", TlsVersion::kTls12}, {"1.3", TlsVersion::kTls13}});
}

void read_short_ca(Cursor& c, TlsSettings& out) {
  if (c.has("ca")) read_pem_file(c, "ca", out.validation.trusted_ca.emplace());
}

void read_short_upstream(Cursor c, UpstreamTls& out) {
  enum class Verify { kFull, kChain, kNone } verify = Verify::kFull;
  read_short_ca(c, out.common);
  c.read("sni", out.sni);
  read_alpn(c.list("alpn"), out.common.alpn);
  read_short_version(c, out.common);
  if (auto pair = read_pair(c)) out.common.certificates.push_back(*std::move(pair));
  c.read_word<Verify>(
      "verify", verify,
      {{"full", Verify::kFull}, {"chain", Verify::kChain}, {"none", Verify::kNone}});
  if (verify == Verify::kNone && c.has("ca")) c.error("verify: none does not use ca");
  out.sni_from_endpoint = out.sni.empty();
  out.verify_server_name = verify == Verify::kFull;
  out.common.validation.system_roots = verify != Verify::kNone && !out.common.validation.trusted_ca;
  c.no_other_keys("ShortUpstreamTls");
}

void read_upstream_context(Cursor c, UpstreamTls& out) {
  if (const Cursor common = c.object("common_tls_context"))
    out.common = read_common_context(common);
  c.read("sni", out.sni);
  c.read("auto_host_sni", out.sni_from_endpoint);
  c.read("auto_sni_san_validation", out.verify_server_name);
  c.read("max_session_keys", out.max_session_keys);
  c.no_other_keys("UpstreamTlsContext");
}

void read_downstream_context(Cursor c, DownstreamTls& out) {
  if (!c.has("common_tls_context")) c.missing("common_tls_context");
  bool stateless_off = false;
  bool stateful_off = false;
  if (const Cursor common = c.object("common_tls_context"))
    out.common = read_server_context(common);
  c.read("require_client_certificate", out.require_client_certificate);
  c.read("disable_stateless_session_resumption", stateless_off);
  c.read("disable_stateful_session_resumption", stateful_off);
  c.read("prefer_client_ciphers", out.prefer_client_ciphers);
  c.read("session_timeout", out.session_timeout);
  out.tickets = !stateless_off;
  out.session_cache = !stateful_off;
  c.no_other_keys("DownstreamTlsContext");
}

void check_downstream(const Cursor& c, const DownstreamTls& tls) {
  if (tls.require_client_certificate && tls.common.validation.empty()) {
    c.warning("every client certificate is accepted: nothing says who may certify clients",
              "add trusted_ca");
  }
}

void check_upstream(const Cursor& c, const UpstreamTls& tls) {
  if (tls.sni.size() > kLongestName) c.error("a server's name has at most 255 bytes");
  if (tls.verify_server_name && !tls.common.validation.has_roots()) {
    c.error("the server's name is checked, and nothing says who may certify it",
            "add trusted_ca or system_root_certs");
  }
  read_files(c, tls, c.session().tls.client);
}

std::vector<std::string> alpn_of(CodecType codec) {
  switch (codec) {
    case CodecType::kAuto: return {"h2", "http/1.1"};
    case CodecType::kHttp1: return {"http/1.1"};
    case CodecType::kHttp2: return {"h2"};
  }
  return {};
}

}  // namespace

std::optional<DownstreamTls> read_downstream_socket(Cursor c) {
  if (!c.is_mapping_or_error()) return std::nullopt;
  const Cursor config = socket_config(c, kDownstream);
  if (!config) return std::nullopt;
  DownstreamTls out;
  read_downstream_context(config, out);
  check_downstream(config, out);
  read_files(config, out, config.session().tls.server);
  return out;
}

std::optional<DownstreamTls> read_short_downstream_tls(Cursor c, CodecType codec) {
  if (!c.is_mapping_or_error()) return std::nullopt;
  DownstreamTls out;
  enum class Client { kNever, kOptional, kAlways };
  Client verify = c.has("ca") ? Client::kAlways : Client::kNever;
  if (!c.has("cert") && !c.has("key") && !c.has("certificates")) c.missing("cert");
  if (auto pair = read_pair(c)) out.common.certificates.push_back(*std::move(pair));
  for (Cursor item : c.list("certificates")) {
    if (!item.is_mapping_or_error()) continue;
    if (auto pair = read_pair(item)) out.common.certificates.push_back(*std::move(pair));
    item.no_other_keys("ShortCertificate");
  }
  read_short_ca(c, out.common);
  c.read_word<Client>(
      "verify_client", verify,
      {{"true", Client::kAlways}, {"false", Client::kNever}, {"optional", Client::kOptional}});
  if (verify != Client::kNever && !c.has("ca")) c.missing("ca");
  if (verify == Client::kNever && c.has("ca")) c.error("verify_client: false does not use ca");
  out.require_client_certificate = verify == Client::kAlways;
  out.common.alpn = alpn_of(codec);
  if (c.has("alpn")) {
    out.common.alpn.clear();
    read_alpn(c.list("alpn"), out.common.alpn);
  }
  read_short_version(c, out.common);
  c.no_other_keys("ShortDownstreamTls");
  check_downstream(c, out);
  read_files(c, out, c.session().tls.server);
  return out;
}

void read_upstream_tls(Cursor& cluster, Cluster& out) {
  cluster.one_of({"tls", "transport_socket"}, false);
  if (const Cursor tls = cluster.object("tls")) {
    read_short_upstream(tls, out.tls.emplace());
    check_upstream(tls, *out.tls);
  }
  if (const Cursor socket = cluster.object("transport_socket")) {
    const Cursor config = socket_config(socket, kUpstream);
    if (!config) return;
    read_upstream_context(config, out.tls.emplace());
    check_upstream(config, *out.tls);
  }
}

void read_auto_sni(Cursor c, Cluster& out) {
  if (!c) return;
  bool sni = false;
  bool verify = false;
  c.read("auto_sni", sni);
  c.read("auto_san_validation", verify);
  c.no_other_keys("AutoSniOptions");
  if (!out.tls) {
    if (sni || verify) c.without_effect("has no effect without TLS");
    return;
  }
  out.tls->sni_from_request = sni;
  out.tls->verify_server_name = out.tls->verify_server_name || verify;
  if (verify && !out.tls->common.validation.has_roots())
    c.error("auto_san_validation needs to know who may certify names",
            "add trusted_ca or system_root_certs");
}

}  // namespace damper::config
