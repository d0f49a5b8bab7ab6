#include "net/listener.h"

#include <cerrno>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <vector>

#include "tests/support/sockets.h"

namespace damper::net {
namespace {

using namespace std::chrono_literals;

struct Bench {
  Bench() {
    for (int i = 0; i < 40; ++i) waiting.push_back(*connect_to(listener.address(), std::nullopt));
  }

  event::Loop loop;
  std::vector<Fd> accepted;
  std::vector<Address> peers;
  std::vector<int> errors;
  Listener listener{loop, *listen_on(*Address::from_ip("127.0.0.1", 0), {}),
                    [this](Fd fd, const Address& peer) {
                      accepted.push_back(std::move(fd));
                      peers.push_back(peer);
                    },
                    [this](int error) { errors.push_back(error); }};
  std::vector<Fd> waiting;
};

// The process may open no further descriptor.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit none = before_;
    none.rlim_cur = 0;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST(Listener, HandsOnEachConnectionWithItsPeer) {
  Bench bench;
  tests::run_turns(bench.loop, 3);
  ASSERT_EQ(bench.accepted.size(), 40u);
  EXPECT_EQ(bench.peers[7], Address::local_of(bench.waiting[7].get()));
  EXPECT_TRUE(bench.errors.empty());
}

TEST(Listener, AcceptsOnlySoManyATurn) {
  Bench bench;
  bench.loop.run_once();
  EXPECT_EQ(bench.accepted.size(), 32u);
}

TEST(Listener, RestsWhenThereAreNoDescriptorsAndComesBack) {
  Bench bench;
  const TimePoint start = Clock::now();
  {
    const NoDescriptors none;
    tests::run_turns(bench.loop, 3);
  }
  EXPECT_EQ(bench.errors, std::vector<int>{EMFILE});
  EXPECT_TRUE(tests::run_until(bench.loop, [&] { return bench.accepted.size() == 40; }));
  EXPECT_GE(Clock::now() - start, 100ms);
  EXPECT_EQ(bench.errors.size(), 1u);
}

TEST(Listener, ADeadListenerIsNotConnectedTo) {
  event::Loop loop;
  Address address;
  {
    const Listener listener(
        loop, *listen_on(*Address::from_ip("127.0.0.1", 0), {}), [](Fd, const Address&) {},
        [](int) {});
    address = listener.address();
  }
  const auto fd = connect_to(address, std::nullopt);
  EXPECT_TRUE(!fd || connect_error(fd->get()) == ECONNREFUSED);
  loop.run_once();
}

}  // namespace
}  // namespace damper::net
