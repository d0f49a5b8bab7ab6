#include "config/load/retry.h"

#include "base/text.h"
#include "config/load/common.h"
#include "config/session.h"

namespace damper::config {
namespace {

constexpr std::string_view kPreviousHosts =
    "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate";
// Envoy's cap of rate_limited_retry_back_off.
constexpr Duration kRateLimitedMaxInterval = 300s;

RetryConditions read_conditions(const Cursor& c) {
  RetryConditions out;
  std::string text;
  if (!c || !c.get(text)) return out;
  std::vector<std::string_view> known;
  for (const RetryOnToken& t : retry_on_tokens()) known.push_back(t.token);
  for (const auto token : split(text, ',')) {
    if (const auto condition = parse_retry_on(token)) {
      out.add(*condition);
      continue;
    }
    const auto best = nearest(token, known);
    c.error("unknown condition \"" + std::string(token) + "\"",
            best.empty() ? "" : "did you mean \"" + std::string(best) + "\"?");
  }
  return out;
}

BackOff read_back_off(Cursor c) {
  BackOff out;
  if (!c) return out;
  if (!c.has("base_interval")) c.missing("base_interval");
  c.read("base_interval", out.base_interval, kPositive);
  c.read("max_interval", out.max_interval, kPositive);
  if (out.max_interval && *out.max_interval < out.base_interval) {
    c.at("max_interval")
        .error("max_interval (" + to_text(*out.max_interval) + ") is shorter than base_interval (" +
               to_text(out.base_interval) + ")");
  }
  c.no_other_keys("RetryBackOff");
  return out;
}

ResetHeader read_reset_header(Cursor c) {
  ResetHeader out;
  if (!c.is_mapping_or_error()) return out;
  if (const Cursor name = c.at("name")) {
    read_header_name(name, out.name);
  } else {
    c.missing("name");
  }
  using Format = ResetHeader::Format;
  c.read_word<Format>("format", out.format,
                      {{"SECONDS", Format::kSeconds}, {"UNIX_TIMESTAMP", Format::kUnixTimestamp}});
  c.no_other_keys("ResetHeader");
  return out;
}

void read_rate_limited_back_off(Cursor c, RetryAfter& out) {
  if (!c) return;
  out.max_wait = kRateLimitedMaxInterval;
  c.read("max_interval", out.max_wait, kPositive);
  if (!c.has("reset_headers")) c.missing("reset_headers");
  for (const Cursor& item : c.list("reset_headers"))
    out.reset_headers.push_back(read_reset_header(item));
  if (c.has("reset_headers") && out.reset_headers.empty())
    c.at("reset_headers").error("at least one header is needed");
  c.no_other_keys("RateLimitedRetryBackOff");
}

void read_retry_after(Cursor c, RetryAfter& out) {
  if (!c) return;
  if (c.is_scalar()) {
    enum class Word { kIgnore } word{};
    out.ignore = c.get_word<Word>(word, "retry_after", {{"ignore", Word::kIgnore}});
    return;
  }
  if (!c.is_mapping_or_error()) return;
  c.read("ignore", out.ignore);
  c.read("max_wait", out.max_wait);
  c.no_other_keys("RetryAfter");
}

void read_host_predicates(const std::vector<Cursor>& items) {
  for (Cursor c : items) {
    if (!c.is_mapping_or_error()) continue;
    std::string name;
    c.read("name", name);
    Cursor config = c.object("typed_config");
    c.no_other_keys("RetryHostPredicate");
    const std::string type = config ? read_type(config) : "";
    if (type != kPreviousHosts && name != "envoy.retry_host_predicates.previous_hosts") {
      c.unsupported("host predicate " + (type.empty() ? name : type));
    } else {
      config.no_other_keys("PreviousHostsPredicate");
    }
  }
}

void read_damper_words(Cursor& c, RetryPolicy& out) {
  read_retry_after(c.at("retry_after"), out.retry_after);
  c.read("idempotent", out.idempotent);
  out.retry_non_idempotent_on = read_status_codes(c.list("retry_non_idempotent_on"));
  c.read("honours_idempotency_key", out.honours_idempotency_key);
}

}  // namespace

RetryPolicy read_retry_policy(Cursor c) {
  RetryPolicy out;
  out.retry_on = read_conditions(c.at("retry_on"));
  c.read("num_retries", out.num_retries);
  c.read("per_try_timeout", out.per_try_timeout);
  c.read("per_try_idle_timeout", out.per_try_idle_timeout);
  out.retriable_status_codes = read_status_codes(c.list("retriable_status_codes"));
  out.retriable_headers = read_header_matches(c.list("retriable_headers"));
  out.retriable_request_headers = read_header_matches(c.list("retriable_request_headers"));
  out.back_off = read_back_off(c.object("retry_back_off"));
  read_rate_limited_back_off(c.object("rate_limited_retry_back_off"), out.retry_after);
  read_host_predicates(c.list("retry_host_predicate"));
  read_damper_words(c, out);
  c.no_other_keys("RetryPolicy");
  c.session().mentions.policies.push_back({out, {c.place(), c.path()}});
  return out;
}

HedgePolicy read_hedge_policy(Cursor c) {
  HedgePolicy out;
  c.read("hedge_on_per_try_timeout", out.hedge_on_per_try_timeout);
  if (const Cursor after = c.at("hedge_after")) {
    out.hedge_after_p95 = after.is_scalar() && after.value()->text == "p95";
    Duration told{};
    if (!out.hedge_after_p95 && after.get(told, kPositive)) out.hedge_after = told;
  }
  c.no_other_keys("HedgePolicy");
  return out;
}

}  // namespace damper::config
