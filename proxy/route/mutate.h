// headers_to_add and headers_to_remove of one level (route table, virtual host, route, weighted
// cluster), compiled.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/model/common.h"
#include "http/fields.h"

namespace damper::stream {
struct AccessRecord;
}

namespace damper::route {

// Writes a value that is known only when the request is (%REQ(x)%). What a record holds is the
// business of stream/, so stream/ makes these; routes only carry them.
using HeaderValue = std::function<void(const stream::AccessRecord&, std::string& out)>;
// Compiles a value that has a '%' in it; an Error if it is malformed.
using ValueCompiler = std::function<Result<HeaderValue>(std::string_view text)>;

// The changes of one level to one direction. As in Envoy: removals first, then what overwrites,
// then what is added; dynamic values see the headers as they are after the removals; an empty value
// changes nothing unless it is to be kept.
class HeaderMutator {
 public:
  static Result<HeaderMutator> compile(const std::vector<config::HeaderAdd>& add,
                                       const std::vector<std::string>& remove,
                                       const ValueCompiler& compiler);

  bool empty() const { return additions_.empty() && removals_.empty(); }
  void apply(http::Fields& fields, const stream::AccessRecord& record) const;

 private:
  struct Addition {
    std::string name;
    std::string literal;  // the value, unless `dynamic` is there
    HeaderValue dynamic;
    config::HeaderAdd::Append append;
    bool keep_empty;
  };

  static void set(const Addition& addition, std::string_view value, http::Fields& fields);

  std::vector<std::string> removals_;
  std::vector<Addition> additions_;  // those that overwrite first
  bool any_dynamic_ = false;
};

struct LevelMutators {
  HeaderMutator request;
  HeaderMutator response;

  static Result<LevelMutators> compile(const config::HeaderMutations& level,
                                       const ValueCompiler& compiler);
};

}  // namespace damper::route
