#!/usr/bin/env python3
"""How the experiments judge what they measured."""

import contextlib
import io
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench" / "demo"))

import experiment  # noqa: E402
import herd  # noqa: E402
import storm  # noqa: E402


class Recovery(unittest.TestCase):
    def recovered(self, *phases):
        """phases: (seconds, share served); the first is the trouble."""
        good = [100 * share for seconds, share in phases for _ in range(seconds)]
        return storm.recovery([100] * len(good), good, phases[0][0])

    def test_it_begins_with_the_first_window_that_is_good(self):
        self.assertEqual(self.recovered((10, 0), (40, 1)), 0)
        self.assertEqual(self.recovered((10, 0), (7, 0), (40, 1)), 7)

    def test_a_window_may_have_five_percent_of_failures(self):
        self.assertEqual(self.recovered((10, 0), (40, 0.95)), 0)
        self.assertIsNone(self.recovered((10, 0), (40, 0.94)))

    def test_it_must_stay_good_for_thirty_seconds(self):
        self.assertEqual(self.recovered((10, 0), (30, 1)), 0)
        self.assertIsNone(self.recovered((10, 0), (29, 1)))
        self.assertEqual(self.recovered((10, 0), (20, 1), (5, 0), (40, 1)), 25)


class Judging(unittest.TestCase):
    def test_every_requirement_that_is_broken_is_named(self):
        judge = experiment.must((lambda f: f["a"] > 1, "a is small"), (lambda f: f["b"] > 1, "b is small"))
        self.assertEqual(judge({"a": 2, "b": 2}), "holds")
        self.assertEqual(judge({"a": 0, "b": 0}), "WRONG: a is small, b is small")

    def test_a_figure_that_is_wrong_is_the_verdict_of_the_whole(self):
        case = experiment.Case("c", lambda proxy, seed: {"x": seed}, lambda f: "holds" if f["x"] == 1 else "WRONG: x")
        records = []
        one = experiment.Experiment("e", "E", "about", {"x": "x"}, [case], judge_all=lambda f: [f"x was {f['c']['x']}"])
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(experiment.run(one, "proxy", 1, 1, records.append), ["holds", "x was 1"])
            self.assertEqual(experiment.run(one, "proxy", 2, 1, records.append), ["WRONG: x", "x was 2"])
        self.assertEqual([r["figures"] for r in records], [{"x": 1}, {"x": 2}])


class Windows(unittest.TestCase):
    def test_the_busiest_ten_seconds_are_found(self):
        self.assertEqual(herd.most_in_ten_seconds([]), 0)
        self.assertEqual(herd.most_in_ten_seconds([0, 5_000, 9_999, 10_000, 30_000]), 3)


if __name__ == "__main__":
    unittest.main()
