#!/usr/bin/env python3
"""damper-demo-app and the code that starts it: a driver sends to a leaf, nothing in between."""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "demo"))

import processes  # noqa: E402

processes.APP = pathlib.Path(os.environ.get("DAMPER_BUILD", ROOT / "build" / "dev"), "damper-demo-app")


class DemoApp(unittest.TestCase):
    def setUp(self):
        self.lab = self.enterContext(processes.Lab())

    def test_what_was_sent_is_received_once(self):
        leaf = self.lab.leaf("--status", 503)
        report = processes.drive(leaf, "-n", 50, "-c", 5)
        self.assertEqual(report["statuses"], {"503": 50})
        self.assertEqual(report["errors"], 0)
        self.assertEqual(processes.received(leaf), 50)

    def test_the_pattern_of_failures_repeats(self):
        leaf = self.lab.leaf("--fail-percent", 30)
        first = processes.drive(leaf, "-n", 200)["statuses"]
        processes.get(leaf, "/_reset", method="POST")
        self.assertEqual(processes.drive(leaf, "-n", 200, "-c", 4)["statuses"], first)
        self.assertGreater(first["503"], 0)

    def test_latency_and_rate_take_their_time(self):
        leaf = self.lab.leaf("--latency-ms", 5)
        report = processes.drive(leaf, "-n", 11, "-c", 4, "--rate", 100)
        self.assertGreaterEqual(report["latency_ms"]["p50"], 5)
        self.assertGreaterEqual(report["seconds"], 0.1)

    def test_a_process_that_does_not_start_says_why(self):
        with self.assertRaisesRegex(processes.StartError, "not host:port"):
            self.lab.leaf("--listen", "nowhere")

    def test_counters_are_read_from_text(self):
        processes.get, before = lambda port, path: "a.b: 3\nhistogram: P0(1,2)\nc: -1\n", processes.get
        self.addCleanup(setattr, processes, "get", before)
        self.assertEqual(processes.counters(0), {"a.b": 3, "c": -1})


if __name__ == "__main__":
    unittest.main()
