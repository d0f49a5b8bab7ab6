#include "config/diagnostics.h"

#include <gtest/gtest.h>

namespace damper::config {
namespace {

TEST(Diagnostics, PointAtTheirPlace) {
  Diagnostics diagnostics;
  const int source = diagnostics.add_source("a.yaml", "first\nsecond: \xC3\xA4 third\n");
  diagnostics.error({{source, 2, 12, 5}, "x.y", "wrong", "did you mean it?"});
  EXPECT_EQ(diagnostics.render_all(),
            "a.yaml:2:12: x.y: wrong\n"
            "     2 | second: \xC3\xA4 third\n"
            "       |           ^~~~~ did you mean it?\n");
  EXPECT_FALSE(diagnostics.ok());
}

TEST(Diagnostics, SurvivePlacesOutsideTheText) {
  Diagnostics diagnostics;
  const int source = diagnostics.add_source("a.yaml", "one");
  diagnostics.error({{source, 9, 7, 3}, "", "a", ""});
  diagnostics.error({{source, 1, 70, 300}, "", "b", ""});
  diagnostics.error({{source, 0, 0, 1}, "", "c", "d"});
  EXPECT_EQ(diagnostics.render_all(),
            "a.yaml:9:7: a\n     9 | \n       | ^\n"
            "a.yaml:1:70: b\n     1 | one\n       |    ^\n"
            "a.yaml: c\n       d\n");
}

TEST(Diagnostics, AreSortedByPlaceAndToldOnce) {
  Diagnostics diagnostics;
  const int source = diagnostics.add_source("a.yaml", "a\nb\n");
  for (const int line : {2, 1, 2}) diagnostics.error({{source, line, 1, 1}, "p", "wrong", ""});
  diagnostics.sort();
  ASSERT_EQ(diagnostics.errors().size(), 2u);
  EXPECT_EQ(diagnostics.errors()[0].place.line, 1);
}

TEST(Diagnostics, AreNotMoreThanAnybodyReads) {
  Diagnostics diagnostics;
  const int source = diagnostics.add_source("a.yaml", "a");
  for (int column = 1; column < 1000; ++column)
    diagnostics.warning({{source, 1, column, 1}, "", "x", ""});
  EXPECT_EQ(diagnostics.warnings().size(), 200u);
  EXPECT_TRUE(diagnostics.ok());
}

}  // namespace
}  // namespace damper::config
