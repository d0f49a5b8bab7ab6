#!/usr/bin/env python3
"""The lint scripts find what they are for, and nothing else."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lint"))

import layers  # noqa: E402
import sizes  # noqa: E402
import tree  # noqa: E402
import twins  # noqa: E402
import words  # noqa: E402


class Layers(unittest.TestCase):
    def assert_finds(self, count, path, text):
        self.assertEqual(len(layers.findings_in(path, text)), count, layers.findings_in(path, text))

    def test_arrows_point_down(self):
        self.assert_finds(0, "proxy/http/x.cc", '#include "net/connection.h"\n#include "config/model/retry.h"\n')
        self.assert_finds(1, "proxy/net/x.cc", '#include "http/fields.h"\n')
        self.assert_finds(1, "proxy/base/x.cc", '#include "event/loop.h"\n')
        self.assert_finds(1, "filters/fault/x.cc", '#include "server/worker.h"\n')
        self.assert_finds(0, "tests/unit/x.cc", '#include "server/worker.h"\n#include <event2/event.h>\n')

    def test_the_loader_is_seen_by_server_only(self):
        self.assert_finds(0, "proxy/server/x.cc", '#include "config/load/load.h"\n')
        self.assert_finds(1, "filters/router/x.cc", '#include "config/load/load.h"\n')

    def test_libraries_stay_at_home(self):
        self.assert_finds(0, "proxy/event/loop.cc", "#include <event2/event.h>\n")
        self.assert_finds(1, "proxy/net/socket.cc", "#include <event2/event.h>\n")
        self.assert_finds(1, "config/model/x.h", "#include <yaml-cpp/yaml.h>\n")

    def test_a_new_folder_must_be_placed(self):
        self.assert_finds(1, "proxy/newcomer/x.cc", "")

    def test_the_line_is_told(self):
        [finding] = layers.findings_in("proxy/net/x.cc", '#pragma once\n\n#include "http/fields.h"\n')
        self.assertTrue(finding.startswith("proxy/net/x.cc:3:"), finding)


class Sizes(unittest.TestCase):
    def functions(self, text):
        return [(name, length) for name, _, length in sizes.cpp_functions(text)]

    def test_functions_are_told_from_other_braces(self):
        text = """
namespace damper {
class Thing final : public Base<int> {
  int size() const { return 1; }
  Thing(int a) : a_(a) {
    if (a) { a_ = 2; }
  }
};
const std::vector<int> table = {
    f(1),
};
#define MACRO(x) \\
  do { x(); } while (false)
const char* text = "not { a ( brace";  // nor { this (
static int last(int n) {

  auto inner = [&] { return n; };
  return inner();
}
}  // namespace damper
"""
        self.assertEqual(self.functions(text), [("size", 1), ("Thing", 3), ("last", 5)])

    def test_what_is_too_large_is_found(self):
        def body(lines):
            return "void f() {\n" + "  g();\n" * (lines - 2) + "}\n"
        self.assertEqual(sizes.too_large("x.cc", body(60)), [])
        self.assertEqual([key for key, _ in sizes.too_large("x.cc", body(61))], ["x.cc:f"])
        self.assertEqual([key for key, _ in sizes.too_large("x.h", "int x;\n" * 601)], ["x.h"])
        self.assertEqual(sizes.too_large("x_test.cc", body(800)), [])
        self.assertEqual([key for key, _ in sizes.too_large("x_test.cc", body(801))], ["x_test.cc"])
        python = "def f():\n" + "    g()\n" * 60
        self.assertEqual([key for key, _ in sizes.too_large("x.py", python)], ["x.py:f"])


class Twins(unittest.TestCase):
    def test_a_source_needs_a_test_or_a_reason(self):
        sources = ["proxy/base/a.cc", "filters/retry/b.cc", "config/load/c.cc"]
        tests = {"tests/unit/base/a_test.cc", "tests/unit/filters/retry/b_test.cc"}
        self.assertEqual(len(twins.findings_in(sources, tests, {})), 1)
        self.assertEqual(twins.findings_in(sources, tests, {"config/load/*.cc": "tested by d"}), [])

    def test_exceptions_must_be_needed(self):
        tests = {"tests/unit/base/a_test.cc"}
        self.assertEqual(len(twins.findings_in(["proxy/base/a.cc"], tests, {"proxy/base/a.cc": "why"})), 1)
        self.assertEqual(len(twins.findings_in([], set(), {"proxy/base/gone.cc": "why"})), 1)
        self.assertEqual(len(twins.findings_in(["proxy/b.cc"], set(), {"proxy/b.cc": ""})), 1)


class Words(unittest.TestCase):
    def test_words_are_found_where_they_count(self):
        cases = [
            (1, "proxy/net/x.h", "class ConnectionManager {\n"),
            (1, "proxy/net/x.h", "struct HostInfo {\n"),
            (0, "proxy/stream/filter.h", "class StreamContext {\n"),
            (0, "proxy/net/x.h", "struct Database {\n"),
            (0, "proxy/net/x.h", "// a Manager is mentioned\nclass Loop {\n"),
            (1, "config/load/x.cc", "throw x;\n"),
            (0, "config/load/x.cc", "catch (const Error& e)\n"),
            (1, "proxy/net/x.cc", "catch (const Error& e)\n"),
            (1, "tests/unit/x.cc", "std::this_thread::sleep_for(1s);\n"),
            (0, "bench/demo/x.cc", "std::this_thread::sleep_for(1s);\n"),
            (1, "docs/x.md", "TO" "DO: write\n"),
            (1, "proxy/net/x.cc", "// see /ho" "me/me/file\n"),
        ]
        for count, path, text in cases:
            self.assertEqual(len(words.findings_in(path, text)), count, (path, text))


class Tree(unittest.TestCase):
    def test_lines_stay_where_they_were(self):
        text = 'a /* 1\n2 */ b // c\nd "e // f" R"(\n{)" 1\'000 \'{\' g\n'
        code = tree.without_comments_and_strings(text)
        self.assertEqual(code.count("\n"), text.count("\n"))
        for gone in "ce{2":
            self.assertNotIn(gone, code)
        for kept in ["a", "b", "d", "1'000", "g"]:
            self.assertIn(kept, code)


if __name__ == "__main__":
    unittest.main()
