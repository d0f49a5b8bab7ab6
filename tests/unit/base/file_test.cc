#include "base/file.h"

#include <gtest/gtest.h>

#include "tests/support/certificates.h"

namespace damper {
namespace {

TEST(ReadFile, BringsAllOfItOrSaysWhyNot) {
  const tests::Folder folder;
  const std::string text = std::string(100'000, 'x') + '\0' + "y";
  const std::string path = folder.write("file", text);
  EXPECT_EQ(*read_file(path, 1 << 20), text);
  EXPECT_EQ(*read_file(path, text.size()), text);
  EXPECT_EQ(read_file(path, text.size() - 1).error().detail, "it is larger than 100001 bytes");
  EXPECT_EQ(read_file(folder.path("none"), 1).error().detail, "No such file or directory");
  EXPECT_EQ(read_file(folder.path(""), 1).error().detail, "Is a directory");
}

}  // namespace
}  // namespace damper
