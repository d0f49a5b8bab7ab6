#!/usr/bin/env python3
"""Builds and runs the tests, and sums them up in the last line: `N passed, N failed, N skipped`.

    tests/run.py PRESET...             build each preset, run its test programs, then the script tests
    tests/run.py --scripts FOLDER...   only the script tests of these folders

The test programs of a preset stand in build/PRESET/tests.txt, which CMake writes. A script test is an executable file
in one of SCRIPT_FOLDERS; it runs once, with the first preset's build folder in $DAMPER_BUILD. Its exit status says
passed (0), skipped (77) or failed; if it prints a sum of its own in the form above, that sum counts instead.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT_FOLDERS = ["tests/lint", "tests/tools", "tests/conformance"]
TIMEOUT_SECONDS = 900  # of one program or script
SKIPPED = 77
SUM = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TSAN_OPTIONS": "second_deadlock_stack=1",
}


@dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Tally(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def execute(command, environment):
    """Runs a command to its end, or kills it with all its children; returns (exit status, what it printed)."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = f"timeout after {TIMEOUT_SECONDS} s"
        output.seek(0)
        return status, output.read().decode(errors="replace")


def indented(text, last_lines=60):
    return "".join(f"    {line}\n" for line in text.rstrip().splitlines()[-last_lines:])


def read_report(report):
    """The tally of GoogleTest's JSON report, and a text about each failure."""
    tally, failures = Tally(), []
    for suite in report["testsuites"]:
        for test in suite["testsuite"]:
            if "failures" in test:
                tally.failed += 1
                messages = "\n".join(failure["failure"] for failure in test["failures"])
                failures.append(f"{suite['name']}.{test['name']}\n{indented(messages)}")
            elif test["status"] == "NOTRUN" or test["result"] == "SKIPPED":
                tally.skipped += 1
            else:
                tally.passed += 1
    return tally, failures


def run_program(program):
    """Runs one GoogleTest program. One that dies counts as one more failure; its tests until then count."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        status, output = execute([program, "--gtest_brief=0", f"--gtest_output=json:{report}"], SANITIZERS)
        if report.exists() and report.stat().st_size > 0:
            tally, failures = read_report(json.loads(report.read_text()))
        else:
            tally, failures = Tally(passed=len(re.findall(r"^\[       OK \]", output, re.MULTILINE))), []
    if status != 0 and tally.failed == 0:
        tally.failed += 1
        failures.append(f"{program} ended with {status}\n{indented(output)}")
    return tally, failures


def run_script(script, build):
    status, output = execute([script], {"DAMPER_BUILD": str(build)})
    sums = SUM.findall(output)
    if sums:
        tally = Tally(*(int(n or 0) for n in sums[-1]))
        if status not in (0, SKIPPED) and tally.failed == 0:
            tally.failed = 1
    elif status == SKIPPED:
        tally = Tally(skipped=1)
    else:
        tally = Tally(passed=1) if status == 0 else Tally(failed=1)
    return tally, [f"{script} ended with {status}\n{indented(output)}"] if tally.failed else []


def reported(title, run, *arguments):
    """Runs one program or script and prints a line about it, and its failures."""
    start = time.monotonic()
    tally, failures = run(*arguments)
    print(f"{title}: {tally} ({time.monotonic() - start:.1f} s)", flush=True)
    for failure in failures:
        print(f"  FAILED {failure}", flush=True)
    return tally


def run_preset(preset):
    print(f"{preset}: building", flush=True)
    subprocess.run(["cmake", "--preset", preset, "--log-level=WARNING"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    jobs = os.environ.get("JOBS", str(os.cpu_count()))
    subprocess.run(["cmake", "--build", "--preset", preset, "--parallel", jobs], cwd=ROOT, check=True)
    programs = (ROOT / "build" / preset / "tests.txt").read_text().split()
    return sum((reported(f"{preset} {pathlib.Path(p).name}", run_program, p) for p in programs), Tally())


def run_scripts(folders, build):
    scripts = [path for folder in folders for path in sorted((ROOT / folder).rglob("*"))
               if path.is_file() and os.access(path, os.X_OK)]
    return sum((reported(str(s.relative_to(ROOT)), run_script, str(s), build) for s in scripts), Tally())


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    if arguments[0] == "--scripts":
        total = run_scripts(arguments[1:], ROOT / "build" / "dev")
    else:
        try:
            total = sum((run_preset(preset) for preset in arguments), Tally())
        except subprocess.CalledProcessError as error:
            print(f"{' '.join(error.cmd)} failed")
            total = Tally(failed=1)
        total += run_scripts(SCRIPT_FOLDERS, ROOT / "build" / arguments[0])
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
