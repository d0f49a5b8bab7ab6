// damper-demo-app: the services around a proxy in the demo and the experiments, one subcommand
// each.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "bench/demo/drive.h"
#include "bench/demo/leaf.h"
#include "bench/demo/relay.h"

namespace damper::demo {
namespace {

Duration from_ms(double ms) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(ms));
}

int fail(const Error& error) {
  std::fprintf(stderr, "damper-demo-app: %s\n", error.detail.c_str());
  return 1;
}

// Serves until the process ends.
template <class Application, class Options>
Status serve(const std::string& address, const Options& options) {
  TRY_ASSIGN(const Address parsed, parse_address(address));
  TRY_ASSIGN(Socket listening, listen_on(parsed));
  TRY(announce(listening, parsed));
  event::Loop loop;
  Application application(loop, std::move(listening), options);
  loop.run();
  return Ok{};
}

void add_leaf(CLI::App& app, Status& status) {
  struct Arguments {
    std::string address = "127.0.0.1:0";
    double latency_ms = 0;
    LeafOptions options;
  };
  auto arguments = std::make_shared<Arguments>();
  LeafOptions& options = arguments->options;
  CLI::App* leaf = app.add_subcommand("leaf", "an HTTP server that counts, and fails as told");
  leaf->add_option("--listen", arguments->address, "port 0: any free one");
  leaf->add_option("--status", options.status, "of every answer");
  leaf->add_option("--fail-percent", options.fail_percent, "of the attempts");
  leaf->add_option("--fail-status", options.fail_status, "of those; 0: a reset");
  leaf->add_option("--seed", options.work.seed, "of failures and exponential latencies");
  leaf->add_option("--latency-ms", arguments->latency_ms, "that the work on a request takes");
  leaf->add_flag("--exponential", options.work.exponential, "that is the mean");
  leaf->add_option("--slots", options.work.slots, "requests worked on at a time; 0: all");
  leaf->add_option("--body-bytes", options.body_bytes, "in every answer");
  leaf->callback([arguments, &status] {
    arguments->options.work.mean = from_ms(arguments->latency_ms);
    status = serve<Leaf>(arguments->address, arguments->options);
  });
}

void add_relay(CLI::App& app, Status& status) {
  struct Arguments {
    std::string target;
    std::string address = "127.0.0.1:0";
    double timeout_ms = 0;
    RelayOptions options;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* relay = app.add_subcommand("relay", "an HTTP server that calls another one");
  relay->add_option("target", arguments->target, "host:port")->required();
  relay->add_option("--listen", arguments->address, "port 0: any free one");
  relay->add_option("--timeout-ms", arguments->timeout_ms, "of its calls; 0: none");
  relay->add_option("--hand-on", arguments->options.handed_on, "header fields, in its calls too");
  relay->callback([arguments, &status] {
    auto target = parse_address(arguments->target);
    if (!target) {
      status = target.error();
      return;
    }
    arguments->options.target = *std::move(target);
    arguments->options.timeout = from_ms(arguments->timeout_ms);
    status = serve<Relay>(arguments->address, arguments->options);
  });
}

void add_drive(CLI::App& app, Status& status) {
  struct Arguments {
    std::string target;
    double patience_ms = 0;
    double retry_wait_ms = 25;
    Load load;
  };
  auto arguments = std::make_shared<Arguments>();
  Load& load = arguments->load;
  CLI::App* driver = app.add_subcommand("drive", "sends requests and prints a report in JSON");
  driver->add_option("target", arguments->target, "host:port")->required();
  driver->add_option("--path", load.path, "of every request");
  driver->add_option("--trace", load.trace_field, "traceparent, x-request-id or b3, in each");
  driver->add_option("-n,--requests", load.requests, "how many");
  driver->add_option("-c,--concurrency", load.concurrency, "users, without a rate")
      ->check(CLI::PositiveNumber);
  driver->add_option("--rate", load.rate, "requests a second; 0: as fast as answers come");
  driver->add_flag("--poisson", load.poisson, "they come at random");
  driver->add_option("--seed", load.seed, "of arrivals and waits");
  driver->add_option("--patience-ms", arguments->patience_ms, "for each try; 0: no limit");
  driver->add_flag("--tell-patience", load.tell_patience, "in x-envoy-expected-rq-timeout-ms");
  driver->add_option("--retries", load.retries, "of a user, after any failure");
  driver->add_option("--retry-wait-ms", arguments->retry_wait_ms, "at most, before each");
  driver->add_flag("--wait-alike", load.wait_alike, "that long, not a random part of it");
  driver->callback([arguments, &status] {
    auto target = parse_address(arguments->target);
    if (!target) {
      status = target.error();
      return;
    }
    arguments->load.target = *std::move(target);
    arguments->load.patience = from_ms(arguments->patience_ms);
    arguments->load.retry_wait = from_ms(arguments->retry_wait_ms);
    std::fputs(to_json(drive(arguments->load)).c_str(), stdout);
  });
}

int run(int argc, char** argv) {
  CLI::App app{"Services for experiments with a proxy"};
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  Status status = Ok{};
  add_leaf(app, status);
  add_relay(app, status);
  add_drive(app, status);
  CLI11_PARSE(app, argc, argv);
  return status ? 0 : fail(status.error());
}

}  // namespace
}  // namespace damper::demo

int main(int argc, char** argv) { return damper::demo::run(argc, argv); }
