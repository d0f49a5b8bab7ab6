#include "config/load/secrets.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "config/load/common.h"
#include "config/session.h"
#include "config/values.h"
#include "config/yaml.h"

namespace damper::config {
namespace {

constexpr std::string_view kSecret = "envoy.extensions.transport_sockets.tls.v3.Secret";

Secret read_secret(Cursor c) {
  Secret out;
  if (!c.is_mapping_or_error()) return out;
  c.read("name", out.name);
  c.one_of({"tls_certificate", "validation_context"},
           !c.has("session_ticket_keys") && !c.has("generic_secret"));
  if (const Cursor certificate = c.object("tls_certificate"))
    out.certificate = read_tls_certificate(certificate);
  if (const Cursor validation = c.object("validation_context"))
    out.validation = read_tls_validation(validation);
  c.no_other_keys("Secret");
  return out;
}

// The secret of that name among the resources of a file.
std::optional<Secret> find_secret(Cursor file, const std::string& name) {
  std::optional<Secret> out;
  for (Cursor resource : file.list("resources")) {
    if (!resource.is_mapping_or_error() || !expect_type(resource, kSecret)) continue;
    Secret secret = read_secret(resource);
    if (secret.name == name || name.empty()) out = std::move(secret);
  }
  file.at("version_info");
  file.no_other_keys("DiscoveryResponse");
  return out;
}

// The file is a text of its own among the diagnostics, so that a mistake in it is shown there.
std::optional<Secret> read_secret_file(const SecretFile& secret, Session& session,
                                       std::string& why_not) {
  auto text = read_file(secret.file, kLargestTextBytes);
  if (!text) {
    why_not = "\"" + secret.file + "\" cannot be read: " + text.error().detail;
    return std::nullopt;
  }
  const int source = session.diagnostics.add_source(secret.file, *std::move(text));
  const auto tree = parse_yaml(source, session.diagnostics);
  if (!tree || !tree->root) {
    why_not = "\"" + secret.file + "\" is no YAML with resources";
    return std::nullopt;
  }
  auto found = find_secret(Cursor(tree->root, "", tree->root->place, session), secret.name);
  if (!found) why_not = "\"" + secret.file + "\" holds no secret \"" + secret.name + "\"";
  return found;
}

// { path_config_source: { path } } or { path }; nothing: reported.
std::optional<std::string> read_config_path(Cursor c) {
  std::string path;
  std::string ignored_version;
  c.one_of({"path_config_source", "path"}, !c.has("ads") && !c.has("api_config_source"));
  c.read("path", path);
  if (Cursor source = c.object("path_config_source")) {
    source.read("path", path);
    if (path.empty()) source.missing("path");
    source.no_other_keys("PathConfigSource");
  }
  c.read("resource_api_version", ignored_version);
  c.no_other_keys("ConfigSource");
  if (path.empty()) return std::nullopt;
  return path;
}

// What a reference means; the file, if it stands in one.
std::optional<Secret> read_reference(Cursor c, std::optional<SecretFile>& file) {
  if (!c.is_mapping_or_error()) return std::nullopt;
  std::string name;
  c.read("name", name);
  Cursor config = c.object("sds_config");
  c.no_other_keys("SdsSecretConfig");
  if (!config) {
    const auto& known = c.session().secrets;
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const Secret& secret) { return secret.name == name; });
    if (at != known.end()) return *at;
    std::vector<std::string_view> names;
    for (const Secret& secret : known) names.push_back(secret.name);
    const auto best = nearest(name, names);
    c.error("unknown secret \"" + name + "\"",
            best.empty() ? "" : "did you mean \"" + std::string(best) + "\"?");
    return std::nullopt;
  }
  const auto path = read_config_path(config);
  if (!path) return std::nullopt;
  file = SecretFile{.file = *path, .name = name};
  std::string why_not;
  auto secret = read_secret_file(*file, c.session(), why_not);
  if (!secret) c.error(why_not);
  return secret;
}

// 64 hexadecimal digits, with or without colons.
void read_certificate_hash(const Cursor& c, std::vector<std::string>& out) {
  std::string text;
  if (!c.get(text)) return;
  std::string digits = lower(text);
  std::erase(digits, ':');
  const bool good = digits.size() == 64 && std::all_of(digits.begin(), digits.end(),
                                                       [](char d) { return hex_digit(d) >= 0; });
  if (good) return out.push_back(std::move(digits));
  c.expected("a SHA-256 digest in 64 hexadecimal digits");
}

void read_spki_hash(const Cursor& c, std::vector<std::string>& out) {
  std::string text;
  if (!c.get(text)) return;
  const auto bytes = decode_base64(text);
  if (bytes && bytes->size() == 32) return out.push_back(std::move(text));
  c.expected("the base64 of a SHA-256 digest");
}

void read_names(Cursor& c, TlsValidation& out) {
  c.one_of({"match_typed_subject_alt_names", "match_subject_alt_names"}, false);
  for (Cursor item : c.list("match_typed_subject_alt_names")) {
    SanMatch match;
    if (!item.is_mapping_or_error()) continue;
    using Type = SanMatch::Type;
    if (!item.has("san_type")) item.missing("san_type");
    item.read_word<Type>("san_type", match.type,
                         {{"DNS", Type::kDns},
                          {"URI", Type::kUri},
                          {"EMAIL", Type::kEmail},
                          {"IP_ADDRESS", Type::kIpAddress}});
    if (!item.has("matcher")) item.missing("matcher");
    if (const Cursor matcher = item.object("matcher")) match.name = read_string_match(matcher);
    item.no_other_keys("SubjectAltNameMatcher");
    out.names.push_back(std::move(match));
  }
  for (const Cursor& item : c.list("match_subject_alt_names")) {
    out.names.push_back({.type = SanMatch::Type::kAny, .name = read_string_match(item)});
  }
}

// Loads it on its own: with its own list of mistakes, of which the first is told.
Result<Secret> load_secret(const SecretFile& file) {
  Diagnostics diagnostics;
  Session session{.diagnostics = diagnostics, .check_pattern = {}, .check_rewrite = {}, .tls = {}};
  std::string why_not;
  auto secret = read_secret_file(file, session, why_not);
  if (secret && diagnostics.ok()) return *std::move(secret);
  if (!diagnostics.ok()) why_not = diagnostics.render(diagnostics.errors().front());
  return Error{Errc::kInvalid, Side::kLocal, why_not};
}

}  // namespace

bool read_pem_source(Cursor c, PemSource& out) {
  if (!c.is_mapping_or_error()) return false;
  std::string encoded;
  const bool one =
      c.one_of({"filename", "inline_string", "inline_bytes"}, !c.has("environment_variable"));
  c.read("filename", out.file);
  c.read("inline_string", out.text);
  if (const Cursor bytes = c.at("inline_bytes"); bytes && bytes.get(encoded)) {
    const auto text = decode_base64(encoded);
    if (!text) bytes.expected("base64");
    out.text = text.value_or("");
  }
  c.no_other_keys("PemSource");
  return one;
}

TlsCertificate read_tls_certificate(Cursor c) {
  TlsCertificate out;
  if (!c.is_mapping_or_error()) return out;
  if (!c.has("certificate_chain")) c.missing("certificate_chain");
  if (!c.has("private_key") && !c.has("private_key_provider")) c.missing("private_key");
  if (const Cursor chain = c.object("certificate_chain")) read_pem_source(chain, out.chain);
  if (const Cursor key = c.object("private_key")) read_pem_source(key, out.key);
  c.object("watched_directory").at("path");  // the files are watched in any case
  c.no_other_keys("TlsCertificate");
  return out;
}

TlsValidation read_tls_validation(Cursor c) {
  TlsValidation out;
  if (!c.is_mapping_or_error()) return out;
  c.one_of({"trusted_ca", "system_root_certs"}, false);
  if (const Cursor roots = c.object("trusted_ca")) read_pem_source(roots, out.trusted_ca.emplace());
  out.system_roots = static_cast<bool>(c.object("system_root_certs"));
  c.object("watched_directory").at("path");
  read_names(c, out);
  for (const Cursor& item : c.list("verify_certificate_hash"))
    read_certificate_hash(item, out.certificate_sha256);
  for (const Cursor& item : c.list("verify_certificate_spki"))
    read_spki_hash(item, out.spki_sha256);
  c.read("allow_expired_certificate", out.allow_expired);
  c.read("max_verify_depth", out.max_depth, Range<std::uint32_t>{.least = 0, .most = 100});
  c.no_other_keys("CertificateValidationContext");
  return out;
}

std::optional<TlsCertificate> read_certificate_reference(Cursor c) {
  std::optional<SecretFile> file;
  auto secret = read_reference(c, file);
  if (!secret) return std::nullopt;
  if (!secret->certificate) {
    c.error("secret \"" + secret->name + "\" is no tls_certificate");
    return std::nullopt;
  }
  secret->certificate->secret = std::move(file);
  return std::move(secret->certificate);
}

std::optional<TlsValidation> read_validation_reference(Cursor c) {
  std::optional<SecretFile> file;
  auto secret = read_reference(c, file);
  if (!secret) return std::nullopt;
  if (!secret->validation) {
    c.error("secret \"" + secret->name + "\" is no validation_context");
    return std::nullopt;
  }
  secret->validation->secret = std::move(file);
  return std::move(secret->validation);
}

void read_secrets(const std::vector<Cursor>& items) {
  for (const Cursor& item : items) {
    Secret secret = read_secret(item);
    auto& known = item.session().secrets;
    const auto same = [&](const Secret& other) { return other.name == secret.name; };
    if (std::any_of(known.begin(), known.end(), same))
      item.error("a second secret named \"" + secret.name + "\"");
    known.push_back(std::move(secret));
  }
}

Result<TlsCertificate> load_certificate_secret(const SecretFile& file) {
  TRY_ASSIGN(Secret secret, load_secret(file));
  if (!secret.certificate)
    return Error{Errc::kInvalid, Side::kLocal, "\"" + file.file + "\" is no tls_certificate"};
  secret.certificate->secret = file;
  return *std::move(secret.certificate);
}

Result<TlsValidation> load_validation_secret(const SecretFile& file) {
  TRY_ASSIGN(Secret secret, load_secret(file));
  if (!secret.validation)
    return Error{Errc::kInvalid, Side::kLocal, "\"" + file.file + "\" is no validation_context"};
  secret.validation->secret = file;
  return *std::move(secret.validation);
}

}  // namespace damper::config
