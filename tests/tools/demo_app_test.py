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
        one, two = (self.lab.leaf("--fail-percent", 30) for _ in range(2))
        first = processes.drive(one, "-n", 200)["statuses"]
        self.assertEqual(processes.drive(two, "-n", 200, "-c", 4)["statuses"], first)
        self.assertGreater(first["503"], 0)

    def test_a_relay_answers_what_it_is_answered(self):
        leaf = self.lab.leaf("--status", 503)
        relay = self.lab.relay(leaf, "--hand-on", "x-request-id", "b3")
        self.assertEqual(processes.drive(relay, "-n", 5)["statuses"], {"503": 5})
        self.assertEqual(processes.received(leaf), 5)

    def test_a_relay_gives_up_when_it_was_told_to(self):
        relay = self.lab.relay(self.lab.leaf("--latency-ms", 60000), "--timeout-ms", 10)
        self.assertEqual(processes.drive(relay, "-n", 1)["statuses"], {"504": 1})

    def test_a_service_works_on_when_its_caller_has_left(self):
        leaf = self.lab.leaf("--latency-ms", 50, "--slots", 1)
        report = processes.drive(leaf, "-n", 2, "-c", 2, "--patience-ms", 5, "--retries", 1)
        self.assertEqual((report["timeouts"], report["retries"]), (2, 2))
        self.assertEqual(processes.counts(leaf)["requests"], 4)

    def test_trouble_is_made_from_outside(self):
        leaf = self.lab.leaf()
        processes.control(leaf, "/_fail?percent=100")
        self.assertEqual(processes.drive(leaf, "-n", 3)["statuses"], {"503": 3})

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
