#include "bench/demo/leaf.h"

#include <gtest/gtest.h>

namespace damper::demo {
namespace {

std::vector<int> statuses(Leaf& leaf, int requests) {
  std::vector<int> out;
  for (int i = 0; i < requests; ++i) out.push_back(leaf.answer({"GET", "/"}).status);
  return out;
}

TEST(Leaf, AnswersWhatItWasTold) {
  Leaf leaf({.status = 503, .body_bytes = 5});
  const Response response = leaf.answer({"GET", "/any"});
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body.size(), 5u);
}

TEST(Leaf, FailsTheSameRequestsEveryTime) {
  Leaf one({.fail_percent = 30, .fail_status = 500}), two({.fail_percent = 30, .fail_status = 500});
  const auto pattern = statuses(one, 1000);
  EXPECT_EQ(pattern, statuses(two, 1000));
  EXPECT_NEAR(static_cast<double>(std::count(pattern.begin(), pattern.end(), 500)), 300, 50);

  Leaf other({.fail_percent = 30, .fail_status = 500, .seed = 1000000});
  EXPECT_NE(pattern, statuses(other, 1000));
}

TEST(Leaf, CountsUntilItIsReset) {
  Leaf leaf({.fail_percent = 100});
  const auto first = statuses(leaf, 3);
  EXPECT_EQ(leaf.answer({"GET", "/_count"}).body, "{\"requests\": 3, \"failed\": 3}\n");
  EXPECT_EQ(leaf.answer({"POST", "/_reset"}).status, 200);
  EXPECT_EQ(leaf.answer({"GET", "/_count"}).body, "{\"requests\": 0, \"failed\": 0}\n");
  EXPECT_EQ(first, statuses(leaf, 3));
}

}  // namespace
}  // namespace damper::demo
