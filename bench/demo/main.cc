// damper-demo-app: the services around a proxy in the demo and the experiments, one subcommand
// each.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/demo/drive.h"
#include "bench/demo/leaf.h"
#include "bench/demo/server.h"

namespace damper::demo {
namespace {

int fail(const Error& error) {
  std::fprintf(stderr, "damper-demo-app: %s\n", error.detail.c_str());
  return 1;
}

int run_leaf(const std::string& address, const LeafOptions& options) {
  const auto parsed = parse_address(address);
  if (!parsed) return fail(parsed.error());
  Leaf leaf(options);
  return fail(serve(*parsed, [&leaf](const Request& request) { return leaf.answer(request); }));
}

int run_drive(const std::string& target, Load load) {
  auto parsed = parse_address(target);
  if (!parsed) return fail(parsed.error());
  load.target = std::move(*parsed);
  std::fputs(to_json(drive(load)).c_str(), stdout);
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app{"Services for experiments with a proxy"};
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  int status = 0;

  std::string address = "127.0.0.1:0";
  LeafOptions leaf_options;
  std::int64_t latency_ms = 0;
  CLI::App* leaf = app.add_subcommand("leaf", "an HTTP server that counts, and fails as told");
  leaf->add_option("--listen", address, "port 0: any free one");
  leaf->add_option("--status", leaf_options.status, "of every answer");
  leaf->add_option("--fail-percent", leaf_options.fail_percent, "of the requests");
  leaf->add_option("--fail-status", leaf_options.fail_status, "of those");
  leaf->add_option("--seed", leaf_options.seed, "of the pattern of failures");
  leaf->add_option("--latency-ms", latency_ms, "before every answer");
  leaf->add_option("--body-bytes", leaf_options.body_bytes, "in every answer");
  leaf->callback([&] {
    leaf_options.latency = std::chrono::milliseconds(latency_ms);
    status = run_leaf(address, leaf_options);
  });

  std::string target;
  Load load;
  CLI::App* driver = app.add_subcommand("drive", "sends requests and prints a report in JSON");
  driver->add_option("target", target, "host:port")->required();
  driver->add_option("--path", load.path, "of every request");
  driver->add_option("-n,--requests", load.requests, "how many");
  driver->add_option("-c,--concurrency", load.concurrency, "connections")
      ->check(CLI::PositiveNumber);
  driver->add_option("--rate", load.rate, "requests a second; 0: as fast as answers come");
  driver->callback([&] { status = run_drive(target, load); });

  CLI11_PARSE(app, argc, argv);
  return status;
}

}  // namespace
}  // namespace damper::demo

int main(int argc, char** argv) { return damper::demo::run(argc, argv); }
