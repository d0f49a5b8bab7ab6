#include "net/resolver.h"

#include <algorithm>
#include <ares.h>
#include <optional>
#include <unistd.h>

#include "base/check.h"
#include "event/io_handle.h"
#include "net/socket.h"

namespace damper::net {
namespace {

using Family = config::Cluster::DnsFamily;

std::string server_list(const std::vector<config::Endpoint>& servers) {
  std::string out;
  for (const config::Endpoint& server : servers) {
    const auto address = Address::from_ip(server.host, server.port == 0 ? 53 : server.port);
    if (!address) continue;  // the loader accepts only literals
    if (!out.empty()) out += ',';
    out += address->to_string();
  }
  return out;
}

std::vector<int> families(Family wanted) {
  switch (wanted) {
    case Family::kV4Only: return {AF_INET};
    case Family::kV6Only: return {AF_INET6};
    case Family::kAuto:
    case Family::kV4Preferred:
    case Family::kAll: break;
  }
  return {AF_INET6, AF_INET};
}

// Connecting a datagram socket sends nothing: it only looks for a route.
bool has_route(const Address& address) {
  const Fd probe(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return ::connect(probe.get(), address.get(), address.length()) == 0;
}

std::vector<Address> choose(Family wanted, std::vector<Address> v4, std::vector<Address> v6) {
  if (wanted == Family::kV4Preferred) return v4.empty() ? v6 : v4;
  // A name with addresses of both families, on a machine that only has IPv4.
  if (!v4.empty()) std::erase_if(v6, [](const Address& address) { return !has_route(address); });
  if (wanted == Family::kAuto && !v6.empty()) return v6;
  v6.insert(v6.end(), v4.begin(), v4.end());
  return v6;
}

Errc code_of(int status) {
  switch (status) {
    case ARES_ETIMEOUT: return Errc::kTimeout;
    case ARES_EBADNAME: return Errc::kInvalid;
    case ARES_EBADRESP:
    case ARES_EFORMERR: return Errc::kProtocol;
    case ARES_ENOMEM:
    case ARES_EDESTRUCTION: return Errc::kSystem;
    default: return Errc::kRefused;  // c-ares says ECONNREFUSED of SERVFAIL too
  }
}

void ask(ares_channel channel, const std::string& name, int family, ares_addrinfo_callback done,
         void* argument) {
  const ares_addrinfo_hints hints{.ai_flags = ARES_AI_NOSORT,
                                  .ai_family = family,
                                  .ai_socktype = SOCK_STREAM,
                                  .ai_protocol = 0};
  ares_getaddrinfo(channel, name.c_str(), nullptr, &hints, done, argument);
}

ares_channel open_channel(ares_options options, int which) {
  ares_channel channel = nullptr;
  DAMPER_CHECK(ares_init_options(&channel, &options, which) == ARES_SUCCESS);
  return channel;
}

}  // namespace

// Interest in one of c-ares' sockets, which c-ares itself opens and closes.
class Resolver::Socket final : public event::IoTarget, public event::Disposable {
 public:
  Socket(Resolver& owner, int fd) : owner_(owner), fd_(fd), io_(owner.loop_, fd, *this) {}

  void want(bool read, bool write) {
    io_.want_read(read);
    io_.want_write(write);
  }
  void on_readable() override { owner_.process(fd_, ARES_SOCKET_BAD); }
  void on_writable() override { owner_.process(ARES_SOCKET_BAD, fd_); }

 private:
  Resolver& owner_;
  int fd_;
  event::IoHandle io_;
};

// One call of resolve(). It stays after a cancellation until c-ares has answered what it was asked:
// single lookups cannot be taken back.
struct Resolver::Request {
  Request(Resolver& owner_, std::uint64_t id_, Family family_)
      : owner(owner_), id(id_), family(family_), wanted(families(family_)) {
    delivery = owner.loop_.timer([resolver = &owner_, id_] { resolver->deliver(id_); });
  }

  void take(int status, ares_addrinfo* answer);
  void add(const Address& address) {
    if (std::find(wanted.begin(), wanted.end(), address.family()) == wanted.end()) return;
    (address.family() == AF_INET ? v4 : v6).push_back(address);
  }
  bool found() const { return !v4.empty() || !v6.empty(); }
  Result<Resolution> result();

  Resolver& owner;
  const std::uint64_t id;
  const Family family;
  const std::vector<int> wanted;  // AF_INET, AF_INET6
  Done done;                      // empty: cancelled
  std::unique_ptr<event::Timer> delivery;
  std::vector<std::string> candidates;  // full names yet to be asked for, in reverse order
  std::string name;                     // the one that is being asked for
  std::size_t unanswered = 0;           // its families
  std::vector<Address> v4;
  std::vector<Address> v6;
  std::optional<std::chrono::seconds> ttl;
  std::optional<Error> failure;
};

void Resolver::Request::take(int status, ares_addrinfo* answer) {
  const std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)> owned(answer,
                                                                           &ares_freeaddrinfo);
  if (status == ARES_ENOTFOUND || status == ARES_ENODATA) return;
  if (status != ARES_SUCCESS) {
    failure = Error{code_of(status), Side::kUpstream, name + ": " + ares_strerror(status)};
    return;
  }
  const auto note_ttl = [this](int seconds) {
    const std::chrono::seconds one(std::max(seconds, 0));
    ttl = std::min(ttl.value_or(one), one);
  };
  for (const auto* alias = answer->cnames; alias; alias = alias->next) note_ttl(alias->ttl);
  for (const auto* node = answer->nodes; node; node = node->ai_next) {
    note_ttl(node->ai_ttl);
    add(Address(node->ai_addr, node->ai_addrlen));
  }
}

Result<Resolution> Resolver::Request::result() {
  if (!found() && failure) return *std::move(failure);
  return Resolution{choose(family, std::move(v4), std::move(v6)), ttl.value_or(0s)};
}

void Resolver::CloseChannel::operator()(ares_channeldata* channel) const { ares_destroy(channel); }

Resolver::Resolver(event::Loop& loop, const std::vector<config::Endpoint>& servers,
                   ResolverOptions options)
    : loop_(loop),
      servers_(server_list(servers)),
      options_(std::move(options)),
      timer_(loop.timer([this] { process(ARES_SOCKET_BAD, ARES_SOCKET_BAD); })) {
  DAMPER_CHECK(ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS);
  open_channels();
}

Resolver::~Resolver() {
  dns_.reset();
  hosts_file_.reset();
  ares_library_cleanup();
}

// Two channels, so that a name in the hosts file needs no server, whatever families it has there.
// The search list is walked here: c-ares forgets that one family failed when the other's answer,
// "no such record", comes last, and we would take that for certain.
void Resolver::open_channels() {
  std::string resolv_conf = options_.resolv_conf;
  char hosts_file[] = "f";
  char dns[] = "b";
  ares_options options{};
  options.resolvconf_path = resolv_conf.data();
  options.lookups = hosts_file;
  constexpr int kAlways = ARES_OPT_RESOLVCONF | ARES_OPT_LOOKUPS;
  hosts_file_.reset(open_channel(options, kAlways));
  read_search_list();

  options.lookups = dns;
  options.timeout = static_cast<int>(options_.first_timeout.count());
  options.tries = options_.tries;
  options.sock_state_cb = &Resolver::on_socket;
  options.sock_state_cb_data = this;
  options.ndomains = 0;
  dns_.reset(open_channel(options, kAlways | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
                                       ARES_OPT_SOCK_STATE_CB | ARES_OPT_DOMAINS));
  if (servers_.empty()) return;
  DAMPER_CHECK(ares_set_servers_ports_csv(dns_.get(), servers_.c_str()) == ARES_SUCCESS);
}

void Resolver::read_search_list() {
  ares_options read{};
  int which = 0;
  DAMPER_CHECK(ares_save_options(hosts_file_.get(), &read, &which) == ARES_SUCCESS);
  search_.assign(read.domains, read.domains + read.ndomains);
  search_below_dots_ = read.ndots;
  ares_destroy_options(&read);
}

// The full names that `name` may stand for, the last first (resolv.conf(5): search, ndots).
std::vector<std::string> Resolver::candidates(const std::string& name) const {
  if (name.ends_with('.')) return {name};
  std::vector<std::string> out;
  for (const std::string& domain : search_) out.emplace_back(name).append(".").append(domain);
  const bool as_it_is_first = std::count(name.begin(), name.end(), '.') >= search_below_dots_;
  out.insert(as_it_is_first ? out.begin() : out.end(), name);
  std::reverse(out.begin(), out.end());
  return out;
}

Query Resolver::resolve(const std::string& name, Family family, Done done) {
  if (stale_ && !asking()) {
    open_channels();
    stale_ = false;
  }
  const std::uint64_t id = ++last_id_;
  Request& request = requests_.try_emplace(id, *this, id, family).first->second;
  request.done = std::move(done);
  ask_hosts_file(name, request);
  if (request.found()) {
    finish(request);
  } else {
    request.candidates = candidates(name);
    ask_dns(request);
    arm_timer();
  }
  return Query([this, id] { cancel(id); });
}

bool Resolver::asking() const {
  return std::any_of(requests_.begin(), requests_.end(),
                     [](const auto& entry) { return entry.second.unanswered > 0; });
}

void Resolver::ask_hosts_file(const std::string& name, Request& request) {
  const auto take = [](void* to, int status, int, ares_addrinfo* answer) {
    if (status == ARES_SUCCESS) static_cast<Request*>(to)->take(status, answer);
  };
  ask(hosts_file_.get(), name, AF_UNSPEC, take, &request);
  if (request.found()) return;
  request.ttl.reset();  // of what is in the file in the other family
  if (name != "localhost") return;
  // Never asked for (RFC 6761 §6.3), even if the file has it in the other family only.
  for (const char* loopback : {"::1", "127.0.0.1"}) request.add(*Address::from_ip(loopback, 0));
}

// Asks for the next candidate, all families at once.
void Resolver::ask_dns(Request& request) {
  request.name = std::move(request.candidates.back());
  request.candidates.pop_back();
  const std::vector<int> wanted = request.wanted;  // the request may end with the last call
  const std::string name = request.name;
  request.unanswered = wanted.size();
  for (const int family : wanted) ask(dns_.get(), name, family, &Resolver::on_answer, &request);
}

void Resolver::on_answer(void* to, int status, int, ares_addrinfo* answer) {
  auto& request = *static_cast<Request*>(to);
  request.take(status, answer);
  if (--request.unanswered > 0) return;
  if (request.found() || request.failure || request.candidates.empty()) {
    request.owner.finish(request);
  } else {
    request.owner.ask_dns(request);
  }
}

void Resolver::finish(Request& request) {
  if (request.failure) stale_ = true;
  if (request.done) {
    request.delivery->arm(0ms);
  } else {
    requests_.erase(request.id);
  }
}

void Resolver::deliver(std::uint64_t id) {
  const auto at = requests_.find(id);
  const Done done = std::move(at->second.done);
  Result<Resolution> result = at->second.result();
  requests_.erase(at);  // and with it the timer that called us
  done(std::move(result));
}

void Resolver::cancel(std::uint64_t id) {
  const auto at = requests_.find(id);
  if (at == requests_.end()) return;
  at->second.done = nullptr;
  at->second.candidates.clear();
  if (at->second.unanswered == 0) requests_.erase(at);
}

// c-ares closes the socket when it wants neither: then it must have left libevent.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): c-ares' order
void Resolver::on_socket(void* resolver, int fd, int readable, int writable) {
  auto& self = *static_cast<Resolver*>(resolver);
  auto& socket = self.sockets_[fd];
  if (!socket) socket = std::make_unique<Socket>(self, fd);
  socket->want(readable != 0, writable != 0);
  if (readable != 0 || writable != 0) return;
  self.loop_.destroy_later(std::move(socket));  // it may be on the stack
  self.sockets_.erase(fd);
}

void Resolver::process(int readable, int writable) {
  ares_process_fd(dns_.get(), readable, writable);
  arm_timer();
}

void Resolver::arm_timer() {
  timeval left{};
  if (ares_timeout(dns_.get(), nullptr, &left) == nullptr) return timer_->cancel();
  timer_->arm(std::chrono::seconds(left.tv_sec) + std::chrono::microseconds(left.tv_usec));
}

}  // namespace damper::net
