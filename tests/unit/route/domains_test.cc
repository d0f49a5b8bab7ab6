#include "route/domains.h"

#include <gtest/gtest.h>

namespace damper::route {
namespace {

Domains domains(std::initializer_list<std::string_view> names) {
  Domains out;
  std::size_t i = 0;
  for (const auto name : names) EXPECT_TRUE(out.add(name, i++)) << name;
  return out;
}

TEST(Domains, ExactBeforeLongestSuffixBeforeLongestPrefixBeforeAny) {
  const auto d =
      domains({"*", "www.a.com", "*.a.com", "*.b.a.com", "www.*", "www.b.*", "*-x.a.com"});
  const std::pair<std::string_view, std::size_t> kCases[] = {
      {"www.a.com", 1}, {"api.a.com", 2},   {"w.b.a.com", 3}, {"www.b.a.com", 3},
      {"www.z", 4},     {"www.b.org", 5},   {"w-x.a.com", 6}, {"elsewhere", 0},
      {"", 0},          {"WWW.A.Com", 1},   {".a.com", 0},    {"www.", 0},
      {"a.com", 0},     {"www.a.com:80", 4}};
  for (const auto& [authority, expected] : kCases)
    EXPECT_EQ(d.find(authority), expected) << authority;
}

TEST(Domains, ASuffixNeedsNoDot) {
  const auto d = domains({"*a.com"});
  EXPECT_EQ(d.find("xa.com"), 0u);
  EXPECT_EQ(d.find("a.com"), std::nullopt);
}

TEST(Domains, AnUnknownNameIsNobodys) {
  const auto d = domains({"a.com", "B.com:8080"});
  EXPECT_EQ(d.find("c.com"), std::nullopt);
  EXPECT_EQ(d.find("b.com:8080"), 1u);
  EXPECT_EQ(d.find("b.com"), std::nullopt);
}

TEST(Domains, NoDomainMayOccurTwice) {
  for (const std::string_view name : {"a.com", "*", "*.a.com", "a.*"}) {
    Domains d;
    EXPECT_TRUE(d.add(name, 0));
    EXPECT_FALSE(d.add(name, 1)) << name;
  }
  Domains d;
  EXPECT_TRUE(d.add("a.com", 0));
  EXPECT_FALSE(d.add("A.com", 1));
}

}  // namespace
}  // namespace damper::route
