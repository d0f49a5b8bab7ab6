// Messages that several subjects share: addresses, matchers, fractions, header changes.
#pragma once
#include "config/cursor.h"
#include "config/model/common.h"
#include "config/model/filters.h"

namespace damper::config {

enum class HostForm { kIp, kIpOrName };

// An address: "host:port", "unix:/path", or Envoy's { socket_address } or { pipe }.
bool read_address(Cursor c, HostForm form, Endpoint& out);
// Envoy's SocketAddress without an envelope.
enum class PortIs { kRequired, kOptional };
bool read_socket_address(Cursor c, PortIs port, HostForm form, Endpoint& out);
// Ranges as "10.0.0.0/8" or Envoy's { address_prefix, prefix_len }.
std::vector<CidrRange> read_ranges(const std::vector<Cursor>& items);

StringMatch read_string_match(Cursor c);
HeaderMatch read_header_match(Cursor c);
std::vector<HeaderMatch> read_header_matches(const std::vector<Cursor>& items);
// { regex }, compiled for a try by the session's check.
bool read_regex(Cursor c, std::string& pattern);

// 20, "20%", { numerator, denominator }.
Fraction read_fraction(Cursor c, Fraction otherwise);
// The same within { default_value, runtime_key }: there is no runtime here, so the default value
// holds.
Fraction read_runtime_fraction(Cursor c);

bool read_header_name(const Cursor& c, std::string& out);  // lower case
std::vector<std::string> read_header_names(const std::vector<Cursor>& items);
// A name that headers_to_add, headers_to_remove and the like may touch: no pseudo-header and not
// host.
bool read_changed_header_name(const Cursor& c, std::string& out);
std::optional<HeaderAdd> read_header_add(Cursor c);  // Envoy HeaderValueOption
HeaderMutations read_header_mutations(Cursor& c);  // request_headers_to_add and its three siblings

bool read_status_code(const Cursor& c, int& out);  // 100 to 599
std::vector<int> read_status_codes(const std::vector<Cursor>& items);

void read_filter_mode(Cursor& c, FilterMode& out);  // mode: enforce | shadow

// The message behind "@type", without "type.googleapis.com/"; empty: reported.
std::string read_type(Cursor& c);
// False and reported, if the type is another one.
bool expect_type(Cursor& c, std::string_view type);

}  // namespace damper::config
