#include "filters/idempotency/idempotency.h"

#include <algorithm>

#include "filters/legs/trace_ids.h"
#include "filters/retry/idempotency.h"
#include "http/forwarding.h"

namespace damper::filters {
namespace {

// What a member of tracestate may hold (W3C Trace Context §3.3.1.3.2).
bool fits_tracestate(std::string_view key) {
  constexpr std::size_t kMost = 256;
  return !key.empty() && key.size() <= kMost && key.back() != ' ' &&
         std::all_of(key.begin(), key.end(),
                     [](char c) { return c >= 0x20 && c < 0x7f && c != ',' && c != '='; });
}

}  // namespace

stream::Verdict Idempotency::on_request_head(http::RequestHead& head, bool) {
  auto key = head.fields.find(settings_.header);
  if (key && key->empty()) key.reset();
  const bool made = !key && settings_.generate && !retry::is_idempotent_method(head.method);
  if (made) {
    head.fields.set(settings_.header, http::uuid_v4(random_));
    key = head.fields.find(settings_.header);
  }
  if (!key) return stream::Continue{};
  stream_.record().idempotency_key = *key;
  stream_.record().key_made_here = made;
  if (fits_tracestate(*key)) {
    legs::set_tracestate_member(head.fields, "damper-key", *key);
  }
  return stream::Continue{};
}

}  // namespace damper::filters
