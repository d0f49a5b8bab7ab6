#include "stream/access_record.h"

#include <gtest/gtest.h>
#include <set>

namespace damper::stream {
namespace {

TEST(Flags, EveryFlagIsParsedFromItsShortName) {
  std::set<std::string_view> names;
  for (int i = 0; i < static_cast<int>(Flag::kCount); ++i) {
    const Flag flag = static_cast<Flag>(i);
    EXPECT_EQ(parse_flag(short_name(flag)), flag);
    EXPECT_FALSE(long_name(flag).empty());
    names.insert(short_name(flag));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Flag::kCount));
  EXPECT_EQ(parse_flag("XX"), std::nullopt);
}

TEST(Flags, SeveralAreShownInOrder) {
  Flags flags;
  EXPECT_EQ(to_string(flags), "-");
  set(flags, Flag::kUpstreamTermination);
  set(flags, Flag::kRetryLimit);
  EXPECT_EQ(to_string(flags), "URX,UC");
  EXPECT_EQ(long_name(Flag::kRetryLimit), "UpstreamRetryLimitExceeded");
}

TEST(GrpcStatus, TrailersGoBeforeTheHeadAndTheHeadBeforeTheHttpStatus) {
  http::ResponseHead head;
  http::Fields trailers;
  AccessRecord record;
  record.status = 503;
  EXPECT_EQ(grpc_status(record), 14);
  head.fields.add("grpc-status", "5");
  record.response = &head;
  EXPECT_EQ(grpc_status(record), 5);
  trailers.add("grpc-status", "0");
  record.response_trailers = &trailers;
  EXPECT_EQ(grpc_status(record), 0);
}

}  // namespace
}  // namespace damper::stream
