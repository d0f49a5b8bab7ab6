#include "config/load.h"

#include "base/file.h"
#include "config/check.h"
#include "config/cursor.h"
#include "config/load/bootstrap.h"
#include "config/to_json.h"
#include "config/yaml.h"

namespace damper::config {
namespace {

void refuse(Diagnostics& diagnostics, int source, std::string message) {
  diagnostics.error(
      {.place = {.source = source}, .path = {}, .message = std::move(message), .hint = {}});
}

// The text with its overlay on top; nothing: errors were reported.
std::optional<Tree> parse(int source, const LoadOptions& options, Diagnostics& diagnostics) {
  auto tree = parse_yaml(source, diagnostics);
  if (options.overlay.empty()) return tree;
  auto over = parse_yaml(diagnostics.add_source("--config-yaml", options.overlay), diagnostics);
  if (!tree || !over) return std::nullopt;
  tree->merge(std::move(*over));
  return tree;
}

}  // namespace

Loaded load_text(std::string name, std::string text, const LoadOptions& options) {
  Loaded out;
  const int source = out.diagnostics.add_source(std::move(name), std::move(text));
  const auto tree = parse(source, options, out.diagnostics);
  if (!tree) return out;
  if (!tree->root || tree->root->kind == Value::Kind::kNull) {
    refuse(out.diagnostics, source, "nothing is written in it");
    return out;
  }
  Session session{.diagnostics = out.diagnostics,
                  .check_pattern = options.check_pattern,
                  .check_rewrite = options.check_rewrite,
                  .tls = options.tls};
  auto bootstrap = read_bootstrap(Cursor(tree->root, "", tree->root->place, session));
  check(bootstrap, session);
  out.diagnostics.sort();
  out.json = to_json(*tree->root);
  if (out.diagnostics.ok()) out.bootstrap = std::make_shared<const Bootstrap>(std::move(bootstrap));
  return out;
}

Loaded load_file(const std::string& path, const LoadOptions& options) {
  auto text = read_file(path, kLargestTextBytes + 1);  // enough for the parser to see too much
  if (text) return load_text(path, *std::move(text), options);
  Loaded out;
  refuse(out.diagnostics, out.diagnostics.add_source(path, ""),
         "cannot be read: " + text.error().detail);
  return out;
}

}  // namespace damper::config
