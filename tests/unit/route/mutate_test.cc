#include "route/mutate.h"

#include <gtest/gtest.h>

#include "stream/access_record.h"
#include "tests/support/heads.h"

namespace damper::route {
namespace {

using config::HeaderAdd;
using Append = HeaderAdd::Append;
using tests::request;

// Knows one operator, %REQ(x)%; everything else is malformed.
Result<HeaderValue> compile_value(std::string_view text) {
  if (text != "%REQ(x)%") return Error{Errc::kInvalid, Side::kLocal, "unknown operator"};
  return HeaderValue([](const stream::AccessRecord& record, std::string& out) {
    out.append(record.request->fields.find("x").value_or(""));
  });
}

std::string mutated(const std::vector<HeaderAdd>& add, const std::vector<std::string>& remove,
                    tests::HeaderList headers) {
  const auto mutator = HeaderMutator::compile(add, remove, compile_value);
  if (!mutator) return mutator.error().detail;
  auto head = request("a", "/", headers);
  stream::AccessRecord record;
  record.request = &head;
  mutator->apply(head.fields, record);
  return tests::text(head.fields);
}

TEST(HeaderMutator, EveryAppendActionWithAndWithoutTheHeader) {
  const struct {
    Append append;
    std::string with, without;
  } kCases[] = {
      {Append::kAppendIfExistsOrAdd, "x: 1\nx: 2\n", "x: 2\n"},
      {Append::kAddIfAbsent, "x: 1\n", "x: 2\n"},
      {Append::kOverwriteIfExistsOrAdd, "x: 2\n", "x: 2\n"},
      {Append::kOverwriteIfExists, "x: 2\n", ""},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(mutated({{"x", "2", c.append}}, {}, {{"x", "1"}}), c.with);
    EXPECT_EQ(mutated({{"x", "2", c.append}}, {}, {}), c.without);
  }
}

TEST(HeaderMutator, RemovesBeforeItAdds) {
  EXPECT_EQ(mutated({{"x", "2"}}, {"x", "y"}, {{"x", "1"}, {"y", "1"}, {"x", "0"}, {"z", "1"}}),
            "z: 1\nx: 2\n");
}

TEST(HeaderMutator, OverwritesBeforeItAppends) {
  EXPECT_EQ(mutated({{"x", "3"}, {"x", "2", Append::kOverwriteIfExistsOrAdd}}, {}, {{"x", "1"}}),
            "x: 2\nx: 3\n");
}

TEST(HeaderMutator, AnEmptyValueIsNotSetUnlessItIsToBeKept) {
  EXPECT_EQ(mutated({{"y", ""}}, {}, {}), "");
  EXPECT_EQ(mutated({{"y", "", Append::kAppendIfExistsOrAdd, true}}, {}, {}), "y: \n");
  EXPECT_EQ(mutated({{"y", "%REQ(x)%", Append::kOverwriteIfExistsOrAdd}}, {}, {{"y", "1"}}),
            "y: 1\n");
  EXPECT_EQ(mutated({{"y", "%REQ(x)%", Append::kOverwriteIfExistsOrAdd, true}}, {}, {{"y", "1"}}),
            "y: \n");
}

TEST(HeaderMutator, NoDynamicValueSeesAnotherOfItsLevel) {
  EXPECT_EQ(mutated({{"x", "new", Append::kOverwriteIfExistsOrAdd}, {"y", "%REQ(x)%"}}, {},
                    {{"x", "old"}}),
            "x: new\ny: old\n");
  EXPECT_EQ(mutated({{"y", "%REQ(x)%"}}, {"x"}, {{"x", "old"}}), "");
}

TEST(HeaderMutator, AMalformedValueIsAnErrorOfTheBuild) {
  EXPECT_EQ(mutated({{"y", "%NO_SUCH%"}}, {}, {}), "unknown operator");
}

TEST(LevelMutators, KeepTheDirectionsApart) {
  const auto level = LevelMutators::compile({{{"a", "1"}}, {"b"}, {{"c", "1"}}, {}}, compile_value);
  ASSERT_TRUE(level);
  const stream::AccessRecord record;
  auto in = request("h", "/", {{"b", ""}});
  level->request.apply(in.fields, record);
  EXPECT_EQ(tests::text(in.fields), "a: 1\n");
  auto out = tests::response(200, {{"b", ""}});
  level->response.apply(out.fields, record);
  EXPECT_EQ(tests::text(out.fields), "b: \nc: 1\n");
}

}  // namespace
}  // namespace damper::route
