// A name server on 127.0.0.1 that answers by script, over UDP and TCP, on the loop of the test.
#pragma once
#include <arpa/inet.h>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/check.h"
#include "event/io_handle.h"
#include "net/address.h"
#include "net/socket.h"

namespace damper::tests {

class DnsServer {
 public:
  struct Record {
    std::string type;  // "A", "AAAA", "CNAME"
    std::string data;  // an address or a name
    std::uint32_t ttl = 60;
    std::string owner{};  // empty: the name that was asked for
  };
  struct Reply {
    enum class Code { kNoError = 0, kServFail = 2, kNxDomain = 3, kRefused = 5 };
    Code code = Code::kNoError;
    std::vector<Record> records{};
    bool silent = false;
    bool truncated = false;  // over UDP; TCP has all
  };

  explicit DnsServer(event::Loop& loop) : loop_(loop) {
    bind_both();
    udp_io_ = std::make_unique<Reader>(loop, udp_.get(), [this] { answer_datagram(); });
    tcp_io_ = std::make_unique<Reader>(loop, tcp_.get(), [this] { accept_one(); });
  }

  // What is not scripted does not exist: NXDOMAIN.
  void script(const std::string& type, const std::string& name, Reply reply) {
    script_[type + " " + name] = std::move(reply);
  }
  config::Endpoint endpoint() const { return {.host = "127.0.0.1", .port = port_}; }
  // "A orders.test", and " tcp" after it if it came that way.
  const std::vector<std::string>& questions() const { return questions_; }

 private:
  class Reader final : public event::IoTarget {
   public:
    Reader(event::Loop& loop, int fd, std::function<void()> read)
        : read_(std::move(read)), io_(loop, fd, *this) {
      io_.want_read(true);
    }
    void on_readable() override { read_(); }
    void on_writable() override {}

   private:
    std::function<void()> read_;
    event::IoHandle io_;
  };
  struct Connection {
    net::Fd fd;
    std::string received{};
    std::unique_ptr<Reader> io{};
  };

  // TCP on the port that UDP was given.
  void bind_both() {
    while (!tcp_) {
      const auto any = *net::Address::from_ip("127.0.0.1", 0);
      udp_ = net::Fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      DAMPER_CHECK(::bind(udp_.get(), any.get(), any.length()) == 0);
      port_ = net::Address::local_of(udp_.get()).port();
      auto listening = net::listen_on(*net::Address::from_ip("127.0.0.1", port_), {});
      if (listening) tcp_ = *std::move(listening);
    }
  }

  void answer_datagram() {
    char query[512];
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    auto* const peer = reinterpret_cast<sockaddr*>(&from);
    const ssize_t n = ::recvfrom(udp_.get(), query, sizeof query, 0, peer, &length);
    if (n <= 0) return;
    const std::string reply = answer({query, static_cast<std::size_t>(n)}, false);
    if (!reply.empty()) (void)!::sendto(udp_.get(), reply.data(), reply.size(), 0, peer, length);
  }

  void accept_one() {
    const int fd = ::accept4(tcp_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    Connection& connection = connections_.emplace_back(Connection{net::Fd(fd)});
    connection.io =
        std::make_unique<Reader>(loop_, fd, [this, &connection] { answer_stream(connection); });
  }

  // Each message has its length before it (RFC 1035 §4.2.2).
  void answer_stream(Connection& connection) {
    char bytes[512];
    const ssize_t n = ::read(connection.fd.get(), bytes, sizeof bytes);
    if (n <= 0) {
      connection.io = nullptr;
      return;
    }
    std::string& in = connection.received;
    in.append(bytes, static_cast<std::size_t>(n));
    if (in.size() < 2 || in.size() < 2u + number_at(in, 0)) return;
    const std::string reply = answer(in.substr(2, number_at(in, 0)), true);
    in.erase(0, 2u + number_at(in, 0));
    const std::string framed = number(reply.size()) + reply;
    (void)!::write(connection.fd.get(), framed.data(), framed.size());
  }

  std::string answer(const std::string& query, bool tcp) {
    constexpr std::size_t kHead = 12;
    if (query.size() <= kHead) return {};
    std::string name;
    std::size_t at = kHead;
    for (; query.at(at) != 0; at += 1u + static_cast<unsigned char>(query[at])) {
      if (!name.empty()) name += '.';
      name += query.substr(at + 1, static_cast<unsigned char>(query[at]));
    }
    const std::string question = query.substr(kHead, at + 5 - kHead);
    const std::string asked = type_name(number_at(query, at + 1)) + " " + name;
    questions_.push_back(asked + (tcp ? " tcp" : ""));
    const auto found = script_.find(asked);
    const Reply reply =
        found == script_.end() ? Reply{.code = Reply::Code::kNxDomain} : found->second;
    return reply.silent ? std::string() : message(query.substr(0, 2), question, name, reply, tcp);
  }

  static std::string message(const std::string& id, const std::string& question,
                             const std::string& name, const Reply& reply, bool tcp) {
    const bool cut = reply.truncated && !tcp;
    const unsigned flags = 0x8180u | static_cast<unsigned>(reply.code) | (cut ? 0x0200u : 0u);
    const std::size_t answers = cut ? 0 : reply.records.size();
    std::string out = id + number(flags) + number(1) + number(answers) + number(0) + number(0);
    out += question;
    if (cut) return out;
    for (const Record& r : reply.records) {
      const std::string data = encoded(r);
      out += labels(r.owner.empty() ? name : r.owner) + number(type_number(r.type)) + number(1) +
             number(r.ttl >> 16) + number(r.ttl & 0xffff) + number(data.size()) + data;
    }
    return out;
  }

  static std::string encoded(const Record& record) {
    if (record.type == "CNAME") return labels(record.data);
    const bool v4 = record.type == "A";
    std::string out(v4 ? sizeof(in_addr) : sizeof(in6_addr), '\0');
    DAMPER_CHECK(inet_pton(v4 ? AF_INET : AF_INET6, record.data.c_str(), out.data()) == 1);
    return out;
  }

  static std::string labels(std::string_view name) {
    std::string out;
    while (!name.empty()) {
      const auto label = name.substr(0, name.find('.'));
      out += static_cast<char>(label.size());
      out += label;
      name.remove_prefix(std::min(name.size(), label.size() + 1));
    }
    return out + '\0';
  }

  static std::string number(std::size_t n) {  // 16 bits, network order
    return {static_cast<char>(n >> 8 & 0xff), static_cast<char>(n & 0xff)};
  }
  static unsigned number_at(const std::string& bytes, std::size_t at) {
    return static_cast<unsigned>(static_cast<unsigned char>(bytes.at(at)) << 8 |
                                 static_cast<unsigned char>(bytes.at(at + 1)));
  }
  static std::string type_name(unsigned type) {
    return type == 1 ? "A" : type == 28 ? "AAAA" : std::to_string(type);
  }
  static unsigned type_number(std::string_view type) {
    return type == "A" ? 1 : type == "AAAA" ? 28 : 5;
  }

  event::Loop& loop_;
  std::uint16_t port_ = 0;
  net::Fd udp_;
  net::Fd tcp_;
  std::unique_ptr<Reader> udp_io_;
  std::unique_ptr<Reader> tcp_io_;
  std::list<Connection> connections_;
  std::map<std::string, Reply> script_;
  std::vector<std::string> questions_;
};

}  // namespace damper::tests
