// One access log of a listener: which requests, in what form, into which file. Immutable: workers
// share it and bring their own buffer.
#pragma once
#include <cstdint>
#include <optional>

#include "config/model/log.h"
#include "server/access_log_filter.h"
#include "server/access_log_sink.h"
#include "stream/format.h"

namespace damper::server {

class AccessLog {
 public:
  // Opens its file. Error: a format or filter that is wrong, a file that cannot be opened.
  static Result<AccessLog> create(const config::AccessLog& config, AccessLogSink& sink);

  // `draw` is random, for filters that pass a share of the requests.
  void log(const stream::AccessRecord& record, AccessLogBuffer& buffer, std::uint64_t draw) const;

 private:
  AccessLog(stream::Format format, std::optional<AccessLogFilter> filter,
            AccessLogSink::FileId file)
      : format_(std::move(format)), filter_(std::move(filter)), file_(file) {}

  stream::Format format_;
  std::optional<AccessLogFilter> filter_;
  AccessLogSink::FileId file_;
};

}  // namespace damper::server
