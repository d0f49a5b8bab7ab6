#include "route/mutate.h"

#include <algorithm>

namespace damper::route {
namespace {

using Append = config::HeaderAdd::Append;

bool overwrites(Append append) {
  return append == Append::kOverwriteIfExists || append == Append::kOverwriteIfExistsOrAdd;
}

}  // namespace

Result<HeaderMutator> HeaderMutator::compile(const std::vector<config::HeaderAdd>& add,
                                             const std::vector<std::string>& remove,
                                             const ValueCompiler& compiler) {
  HeaderMutator out;
  out.removals_ = remove;
  for (const config::HeaderAdd& rule : add) {
    Addition addition{rule.name, rule.value, {}, rule.append, rule.keep_empty_value};
    if (rule.value.find('%') != std::string::npos) {
      TRY_ASSIGN(addition.dynamic, compiler(rule.value));
      out.any_dynamic_ = true;
    }
    out.additions_.push_back(std::move(addition));
  }
  std::stable_partition(out.additions_.begin(), out.additions_.end(),
                        [](const Addition& a) { return overwrites(a.append); });
  return out;
}

void HeaderMutator::apply(http::Fields& fields, const stream::AccessRecord& record) const {
  if (empty()) return;
  for (const std::string& name : removals_) fields.remove(name);

  // All values are written before the first is set: none may see another of its level.
  std::vector<std::string> written;
  if (any_dynamic_) {
    written.resize(additions_.size());
    for (std::size_t i = 0; i < additions_.size(); ++i) {
      if (additions_[i].dynamic) additions_[i].dynamic(record, written[i]);
    }
  }
  for (std::size_t i = 0; i < additions_.size(); ++i) {
    const Addition& addition = additions_[i];
    set(addition, addition.dynamic ? written[i] : addition.literal, fields);
  }
}

void HeaderMutator::set(const Addition& addition, std::string_view value, http::Fields& fields) {
  if (value.empty() && !addition.keep_empty) return;
  switch (addition.append) {
    case Append::kAppendIfExistsOrAdd: fields.add(addition.name, value); return;
    case Append::kOverwriteIfExistsOrAdd: fields.set(addition.name, value); return;
    case Append::kAddIfAbsent:
      if (!fields.find(addition.name)) fields.add(addition.name, value);
      return;
    case Append::kOverwriteIfExists:
      if (fields.find(addition.name)) fields.set(addition.name, value);
      return;
  }
}

Result<LevelMutators> LevelMutators::compile(const config::HeaderMutations& level,
                                             const ValueCompiler& compiler) {
  LevelMutators out;
  TRY_ASSIGN(out.request,
             HeaderMutator::compile(level.request_add, level.request_remove, compiler));
  TRY_ASSIGN(out.response,
             HeaderMutator::compile(level.response_add, level.response_remove, compiler));
  return out;
}

}  // namespace damper::route
