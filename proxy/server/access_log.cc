#include "server/access_log.h"

#include <utility>

namespace damper::server {

Result<AccessLog> AccessLog::create(const config::AccessLog& config, AccessLogSink& sink) {
  auto format = stream::Format::of(config);
  if (!format) return std::move(format).error();
  std::optional<AccessLogFilter> filter;
  if (config.filter) {
    TRY_ASSIGN(filter, AccessLogFilter::compile(*config.filter));
  }
  TRY_ASSIGN(const auto file, sink.open(config.path));
  return AccessLog(*std::move(format), std::move(filter), file);
}

void AccessLog::log(const stream::AccessRecord& record, AccessLogBuffer& buffer,
                    std::uint64_t draw) const {
  if (filter_ && !filter_->passes(record, draw)) return;
  buffer.append(file_, [&](std::string& out) { format_.write(record, out); });
}

}  // namespace damper::server
