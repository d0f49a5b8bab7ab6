// Which requests are logged: config::LogFilter, compiled. Immutable: threads share it.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "config/model/log.h"
#include "route/matchers.h"
#include "stream/access_record.h"

namespace damper::server {

class AccessLogFilter {
 public:
  // Error: a response flag that does not exist, a regex that is none.
  static Result<AccessLogFilter> compile(const config::LogFilter& rule);

  // `draw` is random and decides for shares of requests.
  bool passes(const stream::AccessRecord& record, std::uint64_t draw) const;

 private:
  Status compile_flags(const std::vector<std::string>& names);
  bool passes_flags(const stream::Flags& flags) const;
  bool passes_grpc_status(const stream::AccessRecord& record) const;
  bool compare(std::uint64_t value) const;

  config::LogFilter rule_;  // its filters stand in filters_
  std::vector<AccessLogFilter> filters_;
  stream::Flags flags_;
  std::optional<route::HeaderMatcher> header_;
};

}  // namespace damper::server
