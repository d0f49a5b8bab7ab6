// Any text as a configuration, alone or with a second one laid over it (behind a line "===").
// Beyond memory safety it holds the loader to its promises: there is a configuration exactly if
// there is no error, whatever is said can be printed, and the same text gives the same result.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "config/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace damper::config;
  constexpr std::string_view kSeparator = "\n===\n";
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto split = input.find(kSeparator);
  const std::string text(input.substr(0, split));
  LoadOptions options;
  if (split != std::string_view::npos) options.overlay = input.substr(split + kSeparator.size());

  const Loaded first = load_text("fuzz.yaml", text, options);
  DAMPER_CHECK(first.diagnostics.ok() == (first.bootstrap != nullptr));
  const std::string said = first.diagnostics.render_all();
  DAMPER_CHECK(first.diagnostics.ok() || !said.empty());

  const Loaded second = load_text("fuzz.yaml", text, options);
  DAMPER_CHECK(second.diagnostics.render_all() == said);
  DAMPER_CHECK(!first.bootstrap || *first.bootstrap == *second.bootstrap);
  return 0;
}
