#include "config/load.h"

#include <gtest/gtest.h>

#include "tests/support/config_text.h"

namespace damper::config {
namespace {

const std::string kSource = DAMPER_SOURCE_DIR;

TEST(Load, TheFilesOfTheExamplesLoadWithoutAWarning) {
  for (const char* name : {"minimal", "sidecar", "envoy", "grpc"}) {
    const Loaded loaded = load_file(kSource + "/config/examples/" + name + ".yaml");
    EXPECT_TRUE(loaded.bootstrap);
    EXPECT_EQ(loaded.diagnostics.render_all(), "");
  }
}

TEST(Load, AFileThatIsNotThereIsSaidSo) {
  const std::string folder = kSource + "/config";
  EXPECT_EQ(load_file("no/such.yaml").diagnostics.render_all(),
            "no/such.yaml: cannot be read: No such file or directory\n");
  EXPECT_EQ(load_file(folder).diagnostics.render_all(),
            folder + ": cannot be read: Is a directory\n");
}

TEST(LoadOptions, RewritesAreTriedWhereTheyStand) {
  const LoadOptions options{.check_rewrite =
                                [](const RegexRewrite& rewrite) -> std::optional<std::string> {
    return rewrite.substitution == "\\7" ? std::optional<std::string>("no group 7") : std::nullopt;
  }};
  const Loaded loaded =
      load_text("a.yaml",
                "clusters: [ { name: app, endpoints: [ \"127.0.0.1:80\" ] } ]\n"
                "listeners:\n- address: 127.0.0.1:80\n  routes:\n  - match: { prefix: / }\n"
                "    route: { cluster: app, regex_rewrite: { pattern: { regex: a }, substitution: "
                "'\\7' } }\n",
                options);
  EXPECT_NE(loaded.diagnostics.render_all().find("substitution: no group 7"), std::string::npos)
      << loaded.diagnostics.render_all();
}

TEST(LoadOptions, PatternsAreTriedWhereTheyStand) {
  const LoadOptions options{
      .check_pattern = [](const std::string& pattern) -> std::optional<std::string> {
        return pattern == "(" ? std::optional<std::string>("missing )") : std::nullopt;
      },
      .overlay = ""};
  const Loaded loaded =
      load_text("a.yaml",
                "listeners:\n- address: 127.0.0.1:80\n  routes:\n"
                "  - match: { safe_regex: { regex: ( } }\n    direct_response: { status: 200 }\n"
                "  - match: { safe_regex: { regex: a } }\n    direct_response: { status: 200 }\n",
                options);
  EXPECT_EQ(loaded.diagnostics.render_all(),
            "a.yaml:4:35: listeners[0].routes[0].match.safe_regex.regex: not a regular expression "
            "(RE2): missing )\n"
            "     4 |   - match: { safe_regex: { regex: ( } }\n"
            "       |                                   ^\n");
}

TEST(LoadOptions, AnOverlayChangesTheFile) {
  const std::string file =
      "admin: { address: \"127.0.0.1:9901\" }\nclusters: [ { name: a, endpoints: [ \"127.0.0.1:1\" "
      "] } ]\n";
  const Bootstrap b =
      load(file, {.check_pattern = {},
                  .overlay = "admin: { address: \"127.0.0.1:9902\" }\nclusters: [ { name: b } ]"});
  EXPECT_EQ(b.admin->address.port, 9902);
  EXPECT_EQ(b.clusters.size(), 2u);
  const Loaded wrong =
      load_text("a.yaml", file, {.check_pattern = {}, .overlay = "admin: { adress: 5 }"});
  EXPECT_EQ(wrong.diagnostics.render_all(),
            "--config-yaml:1:10: admin: unknown key \"adress\"\n"
            "     1 | admin: { adress: 5 }\n"
            "       |          ^~~~~~ did you mean \"address\"?\n");
}

}  // namespace
}  // namespace damper::config
