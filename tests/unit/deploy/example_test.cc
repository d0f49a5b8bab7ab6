#include <gtest/gtest.h>

#include "config/load.h"

namespace damper::config {
namespace {

TEST(DeployedExample, LoadsWithoutAWord) {
  const Loaded loaded = load_file(DAMPER_SOURCE_DIR "/deploy/damper.yaml");
  EXPECT_TRUE(loaded.bootstrap);
  EXPECT_EQ(loaded.diagnostics.render_all(), "");
}

}  // namespace
}  // namespace damper::config
