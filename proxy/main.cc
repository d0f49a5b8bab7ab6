// damper: arguments to actions, and nothing else.
#include <CLI/CLI.hpp>
#include <iostream>
#include <thread>

#include "base/log.h"
#include "config/load.h"
#include "route/regex.h"
#include "route/rewrite.h"
#include "server/memory.h"
#include "server/server.h"
#include "server/snapshot.h"
#include "server/tls_setup.h"
#include "server/version.h"

// For jemalloc: a thread keeps eight slabs' worth of freed pieces of a size to itself instead of
// two, as a hundred streams begin and end together. $MALLOC_CONF overrides it.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "lg_tcache_nslots_mul:3,tcache_nslots_small_max:1000";
}

namespace {

using namespace damper;

struct Arguments {
  std::string config_path;
  std::string config_yaml;
  std::string mode = "serve";
  std::string log_level = "info";
  std::string log_path;
  std::string service_node;
  std::string service_cluster;
  unsigned concurrency = 0;
  unsigned drain_time_s = 30;
};

constexpr unsigned kDefaultWorkers = 2;  // a sidecar leaves the machine to its application

void define(CLI::App& app, Arguments& args) {
  app.add_option("-c,--config-path", args.config_path, "configuration file (YAML or JSON)");
  app.add_option("--config-yaml", args.config_yaml,
                 "configuration text, laid over that of the file if there is one");
  app.add_option("--mode", args.mode, "serve, or validate: check the configuration and exit")
      ->check(CLI::IsMember({"serve", "validate"}));
  app.add_option("-l,--log-level", args.log_level, "trace, debug, info, warning, error, off");
  app.add_option("--log-path", args.log_path, "file for the log; standard error if not given");
  app.add_option("--concurrency", args.concurrency,
                 "worker threads; as many as the cgroup's cores, at most 2, if not given");
  app.add_option("--drain-time-s", args.drain_time_s,
                 "seconds that running requests get at the end");
  app.add_option("--service-node", args.service_node, "overrides node.id");
  app.add_option("--service-cluster", args.service_cluster, "overrides node.cluster");
  app.set_version_flag("--version", std::string("damper ") + std::string(server::kVersion));
}

config::Loaded load(const Arguments& args) {
  config::LoadOptions options{.check_pattern = route::check_regex,
                              .check_rewrite = route::check_rewrite,
                              .tls = server::tls_checks()};
  if (args.config_path.empty())
    return config::load_text("--config-yaml", args.config_yaml, options);
  options.overlay = args.config_yaml;
  return config::load_file(args.config_path, options);
}

std::shared_ptr<const config::Bootstrap> with_node(std::shared_ptr<const config::Bootstrap> loaded,
                                                   const Arguments& args) {
  if (args.service_node.empty() && args.service_cluster.empty()) return loaded;
  auto changed = std::make_shared<config::Bootstrap>(*loaded);
  if (!args.service_node.empty()) changed->node.id = args.service_node;
  if (!args.service_cluster.empty()) changed->node.cluster = args.service_cluster;
  return changed;
}

int serve(const Arguments& args, const config::Loaded& loaded) {
  const unsigned workers = args.concurrency > 0
                               ? args.concurrency
                               : std::min(server::available_cores(), kDefaultWorkers);
  server::Server server({.concurrency = workers,
                         .drain_time = std::chrono::seconds(args.drain_time_s),
                         .config_json = loaded.json},
                        with_node(loaded.bootstrap, args));
  if (const Status started = server.start(); !started) {
    std::cerr << "damper: " << started.error().detail << "\n";
    return 1;
  }
  server.catch_signals();
  server.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Damper: an L7 sidecar proxy that retries in one layer, within a budget");
  Arguments args;
  define(app, args);
  CLI11_PARSE(app, argc, argv);
  if (args.config_path.empty() && args.config_yaml.empty()) {
    std::cerr << "damper: give a configuration with -c or --config-yaml\n";
    return 1;
  }
  log::Level level = log::Level::kInfo;
  if (!log::parse_level(args.log_level, level)) {
    std::cerr << "damper: unknown log level \"" << args.log_level << "\"\n";
    return 1;
  }
  if (!log::open(args.log_path)) {
    std::cerr << "damper: cannot open the log file " << args.log_path << "\n";
    return 1;
  }
  log::set_level(level);

  const config::Loaded loaded = load(args);
  std::cerr << loaded.diagnostics.render_all();
  if (!loaded.bootstrap) return 1;
  if (args.mode == "validate") {
    if (const Status built = server::try_to_build(loaded.bootstrap); !built) {
      std::cerr << "damper: " << built.error().detail << "\n";
      return 1;
    }
    std::cout << "configuration '" << args.config_path << "' OK\n";
    return 0;
  }
  return serve(args, loaded);
}
