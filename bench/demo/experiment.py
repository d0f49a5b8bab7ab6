"""What an experiment is, and how a set of them is run: every case is measured, judged, printed, and may be recorded."""

import argparse
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Callable

from processes import PROXY, StartError
from tables import print_table

WRONG = "WRONG"


@dataclass
class Case:
    title: str
    measure: Callable  # (proxy, seed) → figures by name
    judge: Callable    # figures → verdict, which begins with WRONG if they are not as they must be


@dataclass
class Experiment:
    name: str     # on the command line
    title: str
    about: str    # the set-up
    columns: dict  # heading → how to show it: a key of the figures, or a function of them
    cases: list
    alone: bool = False                      # its cases need the machine for themselves
    judge_all: Callable = lambda figures: []  # verdicts about several cases, by title → figures
    figures: dict = field(default_factory=dict)


def must(*requirements):
    """A judge: each requirement is (a condition on the figures, what is wrong otherwise)."""
    def judge(figures):
        broken = [text for condition, text in requirements if not condition(figures)]
        return f"{WRONG}: {', '.join(broken)}" if broken else "holds"
    return judge


def for_comparison(_):
    """The judge of a case that only shows what happens otherwise."""
    return "for comparison"


def shown(value):
    if value is None:
        return "never"
    return f"{value:.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def run(experiment, proxy, seed, jobs, record, part=""):
    """Runs and prints it, or only its cases with `part` in their title; returns the verdicts."""
    cases = [case for case in experiment.cases if part in case.title]
    print(f"\n## {experiment.title}\n\n{experiment.about}\n", flush=True)

    def measure(case):
        begin = time.monotonic()
        figures = case.measure(proxy, seed)
        return case, figures, case.judge(figures), time.monotonic() - begin

    with ThreadPoolExecutor(1 if experiment.alone else jobs) as pool:
        outcomes = list(pool.map(measure, cases))
    rows = []
    for case, figures, verdict, seconds in outcomes:
        cells = [how(figures) if callable(how) else figures.get(how) for how in experiment.columns.values()]
        rows.append([case.title, *(shown(cell) for cell in cells), verdict])
        experiment.figures[case.title] = figures
        record({"experiment": experiment.name, "case": case.title, "seed": seed, "seconds": round(seconds, 1),
                "verdict": verdict, "figures": figures})
    print_table(["", *experiment.columns, "verdict"], rows)
    verdicts = [verdict for _, _, verdict, _ in outcomes]
    if len(cases) == len(experiment.cases):
        verdicts += experiment.judge_all(experiment.figures)
    for verdict in verdicts[len(outcomes):]:
        print(verdict, flush=True)
    return verdicts


def recorder(path):
    """A function that appends a line of JSON for each run to the file, or does nothing without one."""
    if not path:
        return lambda line: None

    def record(line):
        with open(path, "a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
    return record


def main(about, experiments, quick=()):
    """The command line of a set of experiments; returns the exit status."""
    by_name = {e.name: e for e in experiments}
    options = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--proxy", default=PROXY, help=f"its command line; default: {PROXY}")
    options.add_argument("--only", nargs="+", choices=by_name, default=list(by_name))
    if quick:
        options.add_argument("--quick", action="store_const", dest="only", const=list(quick),
                             help=f"only {' and '.join(quick)}")
    options.add_argument("--case", default="", help="only the cases with this in their title")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=2, help="runs at a time")
    options.add_argument("--out", help="append a line of JSON for each run to this file")
    arguments = options.parse_args()
    record = recorder(arguments.out)
    try:
        verdicts = [verdict for name in arguments.only
                    for verdict in run(by_name[name], arguments.proxy, arguments.seed, arguments.jobs, record,
                                   arguments.case)]
    except StartError as error:
        sys.exit(str(error))
    wrong = [verdict for verdict in verdicts if verdict.startswith(WRONG)]
    print(f"\n{len(verdicts) - len(wrong)} of {len(verdicts)} figures hold")
    return 1 if wrong else 0
