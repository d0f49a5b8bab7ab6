#include "tests/support/running_proxy.h"

#include <cstdio>
#include <cstdlib>

#include "base/log.h"
#include "base/text.h"
#include "config/load.h"

namespace damper::tests {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "the proxy under test does not start: %s\n", why.c_str());
  std::abort();
}

}  // namespace

RunningProxy::RunningProxy(const std::string& yaml, server::Options options) {
  log::set_level(log::Level::kWarn);
  config::LoadOptions load{.overlay = "admin: { address: 127.0.0.1:0 }"};
  const config::Loaded loaded = config::load_text("test.yaml", yaml, load);
  if (!loaded.bootstrap) give_up(loaded.diagnostics.render_all());
  server_ = std::make_unique<server::Server>(options, loaded.bootstrap);
  if (const Status started = server_->start(); !started) give_up(started.error().detail);
  thread_ = std::thread([this] { server_->run(); });
}

RunningProxy::~RunningProxy() {
  stop();
  wait();
}

void RunningProxy::stop() { server_->stop(); }

void RunningProxy::wait() {
  if (thread_.joinable()) thread_.join();
}

std::uint16_t RunningProxy::port(std::size_t listener) const {
  return server_->addresses()[listener].port();
}

WireMessage RunningProxy::get(const std::string& target, const std::string& headers) const {
  return ask("GET " + target + " HTTP/1.1\r\nhost: test\r\n" + headers + "\r\n");
}

WireMessage RunningProxy::ask(const std::string& request) const {
  WireConnection connection = connect();
  connection.send(request);
  return connection.read_response(request.starts_with("HEAD ")).value_or(WireMessage{});
}

WireMessage RunningProxy::admin(const std::string& method, const std::string& target) const {
  WireConnection connection = WireConnection::connect_to(server_->admin_address().port());
  connection.send(method + " " + target + " HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n\r\n");
  return connection.read_response().value_or(WireMessage{});
}

long RunningProxy::stat(const std::string& name) const {
  const std::string text = admin("GET", "/stats?filter=" + name).body;
  for (const auto line : split(text, '\n')) {
    if (line.starts_with(name + ": "))
      return std::atol(std::string(line.substr(name.size() + 2)).c_str());
  }
  return 0;
}

bool RunningProxy::stat_becomes(const std::string& name, long value) const {
  const auto until = Clock::now() + std::chrono::seconds(10);
  while (stat(name) != value) {
    if (Clock::now() > until) return false;
  }
  return true;
}

std::string retry(const std::string& retry_on, const std::string& more) {
  return "retry_policy: { retry_on: \"" + retry_on +
         "\", retry_back_off: { base_interval: 1ms, max_interval: 1ms }" +
         (more.empty() ? "" : ", " + more) + " }";
}

std::string one_route(const std::string& endpoints, const std::string& route,
                      const std::string& cluster, const std::string& listener) {
  const auto more = [](const std::string& text) { return text.empty() ? "" : ", " + text; };
  return "listeners:\n- { name: in, address: \"127.0.0.1:0\"" + more(listener) +
         ", routes: [ { match: { prefix: / }, route: { cluster: app" + more(route) + " } } ] }\n" +
         "clusters:\n- { name: app, endpoints: [" + endpoints + "]" + more(cluster) + " }\n";
}

}  // namespace damper::tests
