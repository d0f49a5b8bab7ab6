#include "config/load/filters.h"

#include <algorithm>

#include "base/text.h"
#include "config/load/admission.h"
#include "config/load/common.h"
#include "config/load/deadline.h"
#include "config/other_fields.h"

namespace damper::config {
namespace {

constexpr std::string_view kRouter = "envoy.extensions.filters.http.router.v3.Router";
constexpr std::string_view kPerRoute = "envoy.config.route.v3.FilterConfig";

FilterSettings read_fault(Cursor& c) {
  FaultFilter out;
  if (Cursor delay = c.object("delay")) {
    if (!delay.has("fixed_delay") && !delay.has("header_delay")) delay.missing("fixed_delay");
    delay.read("fixed_delay", out.delay, kPositive);
    out.delay_share = read_fraction(delay.at("percentage"), {0});
    delay.no_other_keys("FaultDelay");
  }
  if (Cursor abort = c.object("abort")) {
    abort.one_of({"http_status", "grpc_status", "header_abort"}, true);
    abort.read("http_status", out.abort_status, Range<int>{.least = 200, .most = 599});
    abort.read("grpc_status", out.abort_grpc_status, Range<int>{.least = 1, .most = 16});
    out.abort_share = read_fraction(abort.at("percentage"), {0});
    abort.no_other_keys("FaultAbort");
  }
  out.headers = read_header_matches(c.list("headers"));
  c.no_other_keys("HTTPFault");
  return out;
}

FilterSettings read_buffer(Cursor& c) {
  BufferFilter out;
  if (!c.has("max_request_bytes")) c.missing("max_request_bytes");
  c.read("max_request_bytes", out.max_request_bytes, Range<std::uint64_t>{.least = 1});
  c.no_other_keys("Buffer");
  return out;
}

FilterSettings read_buffer_per_route(Cursor& c, bool& disabled) {
  c.one_of({"disabled", "buffer"}, true);
  c.read("disabled", disabled);
  BufferFilter out;
  if (Cursor buffer = c.object("buffer")) out = std::get<BufferFilter>(read_buffer(buffer));
  c.no_other_keys("BufferPerRoute");
  return out;
}

// Envoy's list is carried out in order, ours removes first: an addition that a later entry removes
// is left out.
void read_mutations(const std::vector<Cursor>& items, std::vector<HeaderAdd>& add,
                    std::vector<std::string>& remove) {
  for (Cursor c : items) {
    if (!c.is_mapping_or_error()) continue;
    c.one_of({"append", "remove"}, !c.has("remove_on_match"));
    if (const Cursor append = c.at("append")) {
      if (auto header = read_header_add(append)) add.push_back(std::move(*header));
    }
    std::string name;
    if (const Cursor gone = c.at("remove"); gone && read_changed_header_name(gone, name)) {
      std::erase_if(add, [&](const HeaderAdd& a) { return a.name == name; });
      remove.push_back(name);
    }
    c.no_other_keys("HeaderMutationEntry");
  }
}

HeaderMutations read_mutations(Cursor c) {
  HeaderMutations out;
  if (!c) return out;
  read_mutations(c.list("request_mutations"), out.request_add, out.request_remove);
  read_mutations(c.list("response_mutations"), out.response_add, out.response_remove);
  c.no_other_keys("Mutations");
  return out;
}

FilterSettings read_header_mutation(Cursor& c) {
  HeadersFilter out{.mutations = read_mutations(c.object("mutations"))};
  c.no_other_keys("HeaderMutation");
  return out;
}

FilterSettings read_idempotency(Cursor& c) {
  IdempotencyFilter out;
  c.read("generate", out.generate);
  if (const Cursor header = c.at("header")) read_changed_header_name(header, out.header);
  c.no_other_keys("Idempotency");
  return out;
}

FilterSettings read_short_headers(Cursor& c) {
  HeadersFilter out{.mutations = read_header_mutations(c)};
  c.no_other_keys("headers");
  return out;
}

struct FilterKind {
  std::string_view type;        // behind "@type"
  std::string_view short_name;  // in `filters`
  FilterSettings (*read)(Cursor&);
  FilterSettings (*read_short)(Cursor&);
};

constexpr FilterKind kKinds[] = {
    {"envoy.extensions.filters.http.fault.v3.HTTPFault", "fault", read_fault, read_fault},
    {"envoy.extensions.filters.http.header_mutation.v3.HeaderMutation", "headers",
     read_header_mutation, read_short_headers},
    {"envoy.extensions.filters.http.buffer.v3.Buffer", "buffer", read_buffer, read_buffer},
    {"damper.filters.idempotency.v1.Idempotency", "idempotency", read_idempotency,
     read_idempotency},
    {"damper.filters.deadline.v1.Deadline", "deadline", read_deadline, read_deadline},
    {"damper.filters.admission.v1.Admission", "admission", read_admission, read_admission},
};

const FilterKind* find_kind(std::string_view type) {
  for (const FilterKind& kind : kKinds) {
    if (kind.type == type) return &kind;
  }
  return nullptr;
}

// A type that is none of ours: one that Envoy or a later version has, or a mistake.
void refuse_type(Cursor& c, const std::string& type) {
  const auto name_of = [](std::string_view t) { return t.substr(t.rfind('.') + 1); };
  std::vector<std::string_view> names = {name_of(kRouter)};
  for (const FilterKind& kind : kKinds) names.push_back(name_of(kind.type));
  const Cursor place = c.at("@type");
  if (const auto best = nearest(name_of(type), names); !best.empty()) {
    return place.error("unknown type \"" + type + "\"",
                       "did you mean \"" + std::string(best) + "\"?");
  }
  place.unsupported("filter " + type);
}

void read_router(Cursor& c, HttpOptions& out) {
  c.read("suppress_envoy_headers", out.suppress_envoy_headers);
  c.read("respect_expected_rq_timeout", out.respect_expected_rq_timeout);
  c.no_other_keys("Router");
}

// True if the filter was the router.
bool read_http_filter(Cursor c, HttpOptions& out) {
  if (!c.is_mapping_or_error()) return false;
  std::string name;
  c.read("name", name);
  Cursor config = c.object("typed_config");
  c.no_other_keys("HttpFilter");
  if (!config) {
    if (name != "envoy.filters.http.router") c.missing("typed_config");
    return true;
  }
  const std::string type = read_type(config);
  if (type == kRouter) {
    read_router(config, out);
    return true;
  }
  if (const FilterKind* kind = find_kind(type)) {
    out.filters.push_back({name, kind->read(config)});
  } else if (!type.empty()) {
    refuse_type(config, type);
  }
  return false;
}

void read_short_filter(const Cursor& where, const std::string& name, Cursor settings,
                       HttpOptions& out) {
  if (name == "router") return read_router(settings, out);
  std::vector<std::string_view> names = {"router"};
  for (const FilterKind& kind : kKinds) {
    names.push_back(kind.short_name);
    if (kind.short_name == name) return out.filters.push_back({name, kind.read_short(settings)});
  }
  if (const OtherFields* later = find_other_field("filters", name))
    return where.unsupported(later->what);
  const auto best = nearest(name, names);
  where.error("unknown filter \"" + name + "\"",
              best.empty() ? "" : "did you mean \"" + std::string(best) + "\"?");
}

FilterOverride read_override(const std::string& name, Cursor c) {
  FilterOverride out{.name = name, .disabled = false, .settings = std::nullopt};
  if (!c.is_mapping_or_error()) return out;
  const std::string type = read_type(c);
  if (type == kPerRoute) {
    c.read("disabled", out.disabled);
    if (const Cursor config = c.object("config"))
      out.settings = read_override(name, config).settings;
    c.no_other_keys("FilterConfig");
  } else if (type == "envoy.extensions.filters.http.buffer.v3.BufferPerRoute") {
    const FilterSettings settings = read_buffer_per_route(c, out.disabled);
    if (!out.disabled) out.settings = settings;
  } else if (type == "envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute") {
    out.settings = read_header_mutation(c);
  } else if (const FilterKind* kind = find_kind(type)) {
    out.settings = kind->read(c);
  } else if (!type.empty()) {
    c.at("@type").unsupported("settings " + type);
  }
  return out;
}

}  // namespace

void read_http_filters(const std::vector<Cursor>& items, HttpOptions& out) {
  bool ended = false;
  for (const Cursor& item : items) {
    if (ended) item.error("the router is the last filter");
    ended = read_http_filter(item, out) || ended;
  }
}

void read_short_filters(const std::vector<Cursor>& items, HttpOptions& out) {
  for (Cursor item : items) {
    std::string name;
    if (item.is_scalar() && item.get(name)) {
      read_short_filter(item, name, Cursor(nullptr, item.path(), item.place(), item.session()),
                        out);
      continue;
    }
    for (auto& [key, settings] : item.named()) read_short_filter(item, key, settings, out);
  }
}

std::vector<FilterOverride> read_filter_overrides(Cursor c) {
  std::vector<FilterOverride> out;
  if (!c) return out;
  for (auto& [name, settings] : c.named()) out.push_back(read_override(name, settings));
  return out;
}

}  // namespace damper::config
