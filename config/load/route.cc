#include "config/load/route.h"

#include <map>

#include "base/text.h"
#include "config/load/common.h"
#include "config/load/filters.h"
#include "config/load/retry.h"
#include "config/load/route_action.h"
#include "config/session.h"

namespace damper::config {
namespace {

QueryMatch read_query_match(Cursor c) {
  QueryMatch out;
  if (!c.is_mapping_or_error()) return out;
  if (!c.has("name")) c.missing("name");
  c.read("name", out.name);
  c.one_of({"string_match", "present_match"}, false);
  if (const Cursor value = c.at("string_match")) out.value = read_string_match(value);
  c.read("present_match", out.present);
  c.no_other_keys("QueryParameterMatcher");
  return out;
}

void read_path(Cursor& c, RouteMatch& out) {
  using Path = RouteMatch::Path;
  constexpr std::pair<std::string_view, Path> kForms[] = {
      {"prefix", Path::kPrefix},
      {"path", Path::kExact},
      {"path_separated_prefix", Path::kPathSeparatedPrefix}};
  c.one_of({"prefix", "path", "path_separated_prefix", "safe_regex"},
           !c.has("connect_matcher") && !c.has("path_match_policy"));
  for (const auto& [key, form] : kForms) {
    const Cursor text = c.at(key);
    if (!text || !text.get(out.text)) continue;
    out.path = form;
    if (out.text.find_first_of("?#") != std::string::npos)
      text.error("a path is matched without its query");
    if (form == Path::kPathSeparatedPrefix &&
        (out.text.size() < 2 || out.text.front() != '/' || out.text.back() == '/')) {
      text.error("must begin with a slash and not end with one");
    }
  }
  if (const Cursor regex = c.at("safe_regex")) {
    out.path = Path::kRegex;
    read_regex(regex, out.text);
  }
}

RouteMatch read_match(Cursor c) {
  RouteMatch out;
  if (!c) return out;
  read_path(c, out);
  c.read("case_sensitive", out.case_sensitive);
  out.headers = read_header_matches(c.list("headers"));
  for (const Cursor& item : c.list("query_parameters"))
    out.query_parameters.push_back(read_query_match(item));
  if (Cursor grpc = c.object("grpc")) {
    out.grpc = true;
    grpc.no_other_keys("GrpcRouteMatchOptions");
  }
  if (const Cursor fraction = c.at("runtime_fraction"))
    out.runtime_fraction = read_runtime_fraction(fraction);
  c.no_other_keys("RouteMatch");
  return out;
}

DirectResponse read_direct_response(Cursor c) {
  DirectResponse out;
  if (!c.has("status")) c.missing("status");
  if (const Cursor status = c.at("status"))
    status.get(out.status, Range<int>{.least = 200, .most = 599});
  if (Cursor body = c.object("body")) {
    body.read("inline_string", out.body);
    body.no_other_keys("DataSource");
  }
  c.no_other_keys("DirectResponseAction");
  return out;
}

Redirect read_redirect(Cursor c) {
  Redirect out;
  c.one_of({"https_redirect", "scheme_redirect"}, false);
  c.one_of({"path_redirect", "prefix_rewrite", "regex_rewrite"}, false);
  c.read("https_redirect", out.https);
  c.read("scheme_redirect", out.scheme);
  c.read("host_redirect", out.host);
  c.read("port_redirect", out.port, Range<std::uint16_t>{.least = 0, .most = 65535});
  c.read("path_redirect", out.path);
  c.read("prefix_rewrite", out.prefix_rewrite);
  if (const Cursor rewrite = c.object("regex_rewrite"))
    out.regex_rewrite = read_regex_rewrite(rewrite);
  c.read_word<int>("response_code", out.status,
                   {{"MOVED_PERMANENTLY", 301},
                    {"FOUND", 302},
                    {"SEE_OTHER", 303},
                    {"TEMPORARY_REDIRECT", 307},
                    {"PERMANENT_REDIRECT", 308},
                    {"301", 301},
                    {"302", 302},
                    {"303", 303},
                    {"307", 307},
                    {"308", 308}});
  c.read("strip_query", out.strip_query);
  c.no_other_keys("RedirectAction");
  return out;
}

// request_body_buffer_limit, or the field that had its meaning before.
void read_buffer_limit(Cursor& c, std::optional<std::uint64_t>& out) {
  c.read("per_request_buffer_limit_bytes", out);
  c.read("request_body_buffer_limit", out);
}

// The retry policy that holds for a route, for the checks. They point at it, or at the route that
// inherits one.
void mention_retries(Cursor action_at, const RouteAction& action,
                     const std::optional<RetryPolicy>& of_host) {
  const auto& policy = action.retry_policy ? action.retry_policy : of_host;
  if (!policy) return;
  const Cursor at = action.retry_policy ? action_at.at("retry_policy") : action_at;
  at.session().mentions.retries.push_back({{at.place(), at.path()}, *policy, action.timeout});
}

Route read_route(Cursor c, const VirtualHost& host) {
  Route out;
  if (!c.is_mapping_or_error()) return out;
  c.read("name", out.name);
  if (!c.has("match")) c.missing("match");
  out.match = read_match(c.object("match"));
  c.one_of({"route", "direct_response", "redirect"},
           !c.has("filter_action") && !c.has("non_forwarding_action"));
  if (const Cursor action = c.object("route")) {
    out.action = read_route_action(action);
    mention_retries(action, std::get<RouteAction>(out.action), host.retry_policy);
  }
  if (const Cursor reply = c.object("direct_response")) out.action = read_direct_response(reply);
  if (const Cursor redirect = c.object("redirect")) out.action = read_redirect(redirect);
  out.headers = read_header_mutations(c);
  out.filter_overrides = read_filter_overrides(c.object("typed_per_filter_config"));
  read_buffer_limit(c, out.request_body_buffer_limit);
  c.read("stat_prefix", out.stat_prefix);
  c.no_other_keys("Route");
  return out;
}

void read_domains(Cursor& c, std::vector<std::string>& out) {
  for (const Cursor& item : c.list("domains")) {
    std::string domain;
    if (!item.get(domain)) continue;
    const auto star = domain.find('*');
    const bool inside = star != std::string::npos && star != 0 && star != domain.size() - 1;
    if (domain.empty() || inside || domain.find('*', star + 1) != std::string::npos) {
      item.error("\"" + domain + "\" is not a domain", "a host, *.suffix, prefix.* or *");
    }
    out.push_back(lower(domain));
  }
}

// What a virtual host says beside its domains.
void read_host_settings(Cursor& c, VirtualHost& out) {
  out.headers = read_header_mutations(c);
  out.filter_overrides = read_filter_overrides(c.object("typed_per_filter_config"));
  if (const Cursor policy = c.object("retry_policy")) out.retry_policy = read_retry_policy(policy);
  if (const Cursor policy = c.object("hedge_policy")) out.hedge_policy = read_hedge_policy(policy);
  read_buffer_limit(c, out.request_body_buffer_limit);
  c.read("include_request_attempt_count", out.include_request_attempt_count);
  c.read("include_attempt_count_in_response", out.include_attempt_count_in_response);
  c.read("include_is_timeout_retry_header", out.include_is_timeout_retry_header);
  using RequireTls = VirtualHost::RequireTls;
  c.read_word<RequireTls>("require_tls", out.require_tls,
                          {{"NONE", RequireTls::kNone},
                           {"EXTERNAL_ONLY", RequireTls::kExternalOnly},
                           {"ALL", RequireTls::kAll}});
  for (const Cursor& item : c.list("routes")) out.routes.push_back(read_route(item, out));
}

VirtualHost read_virtual_host(Cursor c, std::string default_name) {
  VirtualHost out;
  out.name = std::move(default_name);
  if (!c.is_mapping_or_error()) return out;
  c.read("name", out.name);
  if (!c.has("domains")) c.missing("domains");
  read_domains(c, out.domains);
  read_host_settings(c, out);
  c.no_other_keys("VirtualHost");
  return out;
}

// Names of virtual hosts, and domains over all of them, are unique.
void check_unique(const std::vector<Cursor>& items, const std::vector<VirtualHost>& hosts) {
  std::map<std::string, std::string> names, domains;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (!names.emplace(hosts[i].name, "").second)
      items[i].error("a second virtual host named \"" + hosts[i].name + "\"");
    for (const std::string& domain : hosts[i].domains) {
      const auto [first, added] = domains.emplace(domain, hosts[i].name);
      if (!added)
        items[i].error("domain \"" + domain + "\" stands in virtual host \"" + first->second +
                       "\" already");
    }
  }
}

}  // namespace

std::vector<VirtualHost> read_virtual_hosts(const std::vector<Cursor>& items,
                                            const std::string& default_name) {
  std::vector<VirtualHost> out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string name = i == 0 ? default_name : default_name + "_" + std::to_string(i);
    out.push_back(read_virtual_host(items[i], name));
  }
  check_unique(items, out);
  return out;
}

VirtualHost read_only_virtual_host(Cursor& owner, const std::string& name) {
  VirtualHost out;
  out.name = name;
  out.domains = {"*"};
  for (const Cursor& item : owner.list("routes")) out.routes.push_back(read_route(item, out));
  return out;
}

RouteConfig read_route_config(Cursor c, const std::string& default_name) {
  RouteConfig out;
  out.name = default_name;
  c.read("name", out.name);
  out.virtual_hosts = read_virtual_hosts(c.list("virtual_hosts"), default_name);
  out.headers = read_header_mutations(c);
  out.filter_overrides = read_filter_overrides(c.object("typed_per_filter_config"));
  c.read("most_specific_header_mutations_wins", out.most_specific_header_mutations_wins);
  c.read("ignore_port_in_host_matching", out.ignore_port_in_host_matching);
  c.no_other_keys("RouteConfiguration");
  return out;
}

}  // namespace damper::config
