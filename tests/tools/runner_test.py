#!/usr/bin/env python3
"""tests/run.py counts what it runs."""

import pathlib
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import run  # noqa: E402


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def script(self, body):
        path = self.folder / "script.sh"
        path.write_text("#!/bin/sh\n" + body)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def test_a_script_counts_by_its_exit_status(self):
        for body, expected in [("exit 0", run.Tally(passed=1)), ("exit 1", run.Tally(failed=1)),
                               ("exit 77", run.Tally(skipped=1)), ("kill -9 $$", run.Tally(failed=1))]:
            self.assertEqual(run.run_script(self.script(body), self.folder)[0], expected, body)

    def test_a_script_may_tell_its_own_sum(self):
        for body, expected in [("echo 3 passed, 0 failed, 2 skipped", run.Tally(3, 0, 2)),
                               ("echo 3 passed, 1 failed; exit 1", run.Tally(3, 1, 0)),
                               ("echo 3 passed, 0 failed; exit 1", run.Tally(3, 1, 0))]:
            self.assertEqual(run.run_script(self.script(body), self.folder)[0], expected, body)

    def test_failures_are_shown(self):
        tally, failures = run.run_script(self.script("echo what went wrong; exit 1"), self.folder)
        self.assertEqual(tally.failed, 1)
        self.assertIn("what went wrong", failures[0])

    def test_a_program_that_dies_is_a_failure(self):
        died = self.script("echo '[       OK ] A.B (0 ms)'; kill -11 $$")
        tally, failures = run.run_program(died)
        self.assertEqual(tally, run.Tally(passed=1, failed=1))
        self.assertEqual(len(failures), 1)

    def test_a_report_is_read(self):
        def test(name, **more):
            return {"name": name, "status": "RUN", "result": "COMPLETED", **more}
        tests = [test("A"), test("B", failures=[{"failure": "x.cc:1: expected 2"}]), test("C", result="SKIPPED"),
                 test("D", status="NOTRUN", result="SUPPRESSED")]
        tally, failures = run.read_report({"testsuites": [{"name": "S", "testsuite": tests}]})
        self.assertEqual(tally, run.Tally(1, 1, 2))
        self.assertIn("S.B", failures[0])
        self.assertIn("expected 2", failures[0])

    def test_a_hanging_script_is_ended(self):
        run.TIMEOUT_SECONDS, before = 0.2, run.TIMEOUT_SECONDS
        try:
            tally, failures = run.run_script(self.script("sleep 60"), self.folder)
        finally:
            run.TIMEOUT_SECONDS = before
        self.assertEqual(tally, run.Tally(failed=1))
        self.assertIn("timeout", failures[0])


if __name__ == "__main__":
    unittest.main()
