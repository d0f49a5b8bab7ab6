// Every file of tests/golden/config is loaded, and what is said about it compared with the text
// beside it: NAME.yaml and NAME.expected. Files in ok/ load; what may be said about them is no
// error. DAMPER_WRITE_GOLDEN=1 writes the .expected files anew; read the difference before you
// commit it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "config/load.h"

namespace damper::config {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(DAMPER_SOURCE_DIR) / "tests/golden/config";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> yaml_files(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Loaded load_and_compare(const fs::path& folder, const std::string& name) {
  const fs::path expected = folder / (name + ".expected");
  Loaded loaded = load_text(name + ".yaml", read(folder / (name + ".yaml")));
  const std::string said = loaded.diagnostics.render_all();
  if (std::getenv("DAMPER_WRITE_GOLDEN")) std::ofstream(expected, std::ios::binary) << said;
  EXPECT_TRUE(fs::exists(expected));
  EXPECT_EQ(said, read(expected));
  EXPECT_EQ(loaded.bootstrap != nullptr, loaded.diagnostics.ok());
  return loaded;
}

class GoldenConfig : public testing::TestWithParam<std::string> {};

TEST_P(GoldenConfig, SaysWhatItSaid) {
  const Loaded loaded = load_and_compare(kFolder, GetParam());
  EXPECT_FALSE(loaded.diagnostics.render_all().empty());
}

class GoldenGoodConfig : public testing::TestWithParam<std::string> {};

TEST_P(GoldenGoodConfig, Loads) {
  const Loaded loaded = load_and_compare(kFolder / "ok", GetParam());
  EXPECT_TRUE(loaded.bootstrap) << loaded.diagnostics.render_all();
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenConfig, testing::ValuesIn(yaml_files(kFolder)), name_of);
INSTANTIATE_TEST_SUITE_P(Files, GoldenGoodConfig, testing::ValuesIn(yaml_files(kFolder / "ok")),
                         name_of);

}  // namespace
}  // namespace damper::config
