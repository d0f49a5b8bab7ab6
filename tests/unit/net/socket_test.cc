#include "net/socket.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/sockets.h"

namespace damper::net {
namespace {

using namespace std::chrono_literals;

Address loopback() { return *Address::from_ip("127.0.0.1", 0); }

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

int option(const Fd& fd, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  EXPECT_EQ(getsockopt(fd.get(), level, name, &value, &length), 0);
  return value;
}

int error_of_connect(const Address& address) {
  const auto fd = connect_to(address, std::nullopt);
  if (!fd) return ECONNREFUSED;
  pollfd ended{.fd = fd->get(), .events = POLLOUT, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, 10'000), 1);
  return connect_error(fd->get());
}

// A path in a directory of its own.
struct UnixPath {
  UnixPath() { EXPECT_TRUE(::mkdtemp(directory.data())); }
  ~UnixPath() {
    ::unlink(path().c_str());
    ::rmdir(directory.c_str());
  }
  std::string path() const { return directory + "/socket"; }
  Address address() const { return *Address::from_unix_path(path()); }
  std::string directory = testing::TempDir() + "damper_XXXXXX";
};

TEST(Fd, ClosesWhatItOwnsAndNothingAfterAMove) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  const int number = fd.get();
  {
    Fd moved(std::move(fd));
    EXPECT_FALSE(fd);
    EXPECT_TRUE(is_open(number));
    fd = std::move(moved);
  }
  EXPECT_TRUE(is_open(number));
  fd = Fd();
  EXPECT_FALSE(is_open(number));
}

TEST(Listen, TakesAFreePortAndSeveralMayShareIt) {
  const auto first = listen_on(loopback(), {});
  ASSERT_TRUE(first);
  const Address address = Address::local_of(first->get());
  EXPECT_NE(address.port(), 0);
  EXPECT_TRUE(listen_on(address, {}));
}

TEST(Listen, SaysWhichAddressIsTakenUnlessBothShareIt) {
  const auto first = listen_on(loopback(), {.reuse_port = false});
  const Address address = Address::local_of(first->get());
  const auto second = listen_on(address, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kSystem);
  EXPECT_EQ(second.error().detail,
            "cannot bind " + address.to_string() + ": Address already in use");
}

TEST(Listen, AnIpv6SocketLeavesIpv4Alone) {
  const auto v6 = listen_on(*Address::from_ip("::", 0), {});
  if (!v6) GTEST_SKIP() << "no IPv6 here";
  EXPECT_EQ(option(*v6, IPPROTO_IPV6, IPV6_V6ONLY), 1);
}

TEST(Listen, ReplacesASocketFileThatNobodyListensOn) {
  const UnixPath path;
  { ASSERT_TRUE(listen_on(path.address(), {})); }
  struct stat file {};
  ASSERT_EQ(::stat(path.path().c_str(), &file), 0);
  EXPECT_TRUE(listen_on(path.address(), {}));
}

TEST(Listen, LeavesASocketFileThatIsInUseAndEveryOtherFile) {
  const UnixPath path;
  {
    const auto first = listen_on(path.address(), {});
    EXPECT_FALSE(listen_on(path.address(), {}));
    EXPECT_EQ(error_of_connect(path.address()), 0);
  }
  ::unlink(path.path().c_str());
  { const Fd file(::creat(path.path().c_str(), 0600)); }
  EXPECT_FALSE(listen_on(path.address(), {}));
  EXPECT_EQ(::access(path.path().c_str(), F_OK), 0);
}

TEST(Connect, ReachesAListenerWithoutBlocking) {
  tests::Backend backend;
  const auto fd = connect_to(backend.address(), std::nullopt);
  ASSERT_TRUE(fd);
  EXPECT_NE(::fcntl(fd->get(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_EQ(connect_error(fd->get()), 0);
  EXPECT_TRUE(backend.accept());
}

TEST(Connect, ADesertedAddressIsRefused) {
  EXPECT_EQ(error_of_connect(tests::deserted_address()), ECONNREFUSED);
  const auto fd = connect_to(*Address::from_unix_path("/nowhere/at/all"), std::nullopt);
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().code, Errc::kRefused);
  EXPECT_EQ(fd.error().side, Side::kUpstream);
}

TEST(Connect, BindsToTheSourceOrSaysWhyNot) {
  tests::Backend backend;
  const auto fd = connect_to(backend.address(), Address::from_ip("127.0.0.9", 0));
  ASSERT_TRUE(fd);
  EXPECT_EQ(Address::local_of(fd->get()).ip(), "127.0.0.9");
  const auto strange = connect_to(backend.address(), Address::from_ip("192.0.2.1", 0));
  ASSERT_FALSE(strange);
  EXPECT_EQ(strange.error().side, Side::kLocal);
}

TEST(Connect, ADescriptorThatIsNoSocketHasAnError) { EXPECT_EQ(connect_error(-1), EBADF); }

TEST(SocketOptions, AreSet) {
  const tests::SocketPair pair;
  set_no_delay(pair.ours.get());
  EXPECT_EQ(option(pair.ours, IPPROTO_TCP, TCP_NODELAY), 1);
  set_liveness(pair.ours.get(), {.probes = 4, .time = 1500ms, .interval = 3s});
  EXPECT_EQ(option(pair.ours, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(pair.ours, IPPROTO_TCP, TCP_KEEPIDLE), 2);
  EXPECT_EQ(option(pair.ours, IPPROTO_TCP, TCP_KEEPINTVL), 3);
  EXPECT_EQ(option(pair.ours, IPPROTO_TCP, TCP_KEEPCNT), 4);
  EXPECT_EQ(option(pair.ours, IPPROTO_TCP, TCP_USER_TIMEOUT), 13'500);
}

TEST(SocketOptions, AnAbortiveCloseIsSeenAsAReset) {
  tests::SocketPair pair;
  set_abortive_close(pair.ours.get());
  pair.ours = Fd();
  EXPECT_TRUE(pair.peer.was_reset());
}

}  // namespace
}  // namespace damper::net
