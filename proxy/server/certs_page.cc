#include "server/certs_page.h"

#include <algorithm>
#include <ctime>

#include "base/json.h"
#include "server/tls_setup.h"

namespace damper::server {
namespace {

std::string iso_time(WallTime time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

void append_names(std::string& out, std::string_view kind, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (out.back() == '}') out += ',';
    out.append("{\"").append(kind).append("\":");
    append_json_string(out, name);
    out += '}';
  }
}

void append_certificate(std::string& out, const net::CertificateFacts& facts, WallTime now) {
  using Days = std::chrono::duration<long long, std::ratio<86'400>>;
  const auto left = std::chrono::duration_cast<Days>(facts.not_after - now).count();
  out += "{\"path\":";
  append_json_string(out, facts.source.empty() ? "<inline>" : facts.source);
  out += ",\"serial_number\":";
  append_json_string(out, facts.serial);
  out += ",\"subject_alt_names\":[";
  append_names(out, "dns", facts.dns_sans);
  append_names(out, "uri", facts.uri_sans);
  append_names(out, "ip_address", facts.ip_sans);
  out += "],\"days_until_expiration\":\"" + std::to_string(std::max(left, 0LL)) +
         "\",\"valid_from\":\"" + iso_time(facts.not_before) + "\",\"expiration_time\":\"" +
         iso_time(facts.not_after) + "\"}";
}

void append_list(std::string& out, const std::vector<net::CertificateFacts>& list, WallTime now) {
  out += '[';
  for (const net::CertificateFacts& facts : list) {
    if (&facts != &list.front()) out += ',';
    append_certificate(out, facts, now);
  }
  out += ']';
}

}  // namespace

std::string certs_json(const Snapshot& snapshot, WallTime now) {
  std::string out = "{\"certificates\":[";
  for (const TlsParty& party : tls_parties(snapshot)) {
    if (out.back() == '}') out += ',';
    out += "{\"ca_cert\":";
    append_list(out, party.rotation->roots(), now);
    out += ",\"cert_chain\":";
    append_list(out, party.rotation->certificates(), now);
    out += '}';
  }
  return out + "]}\n";
}

}  // namespace damper::server
