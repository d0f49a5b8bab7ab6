#!/usr/bin/env python3
"""Measures with real processes what retries do to a chain of services, and what a retry budget does to retries.

Prints tables, and exits 0 only if every figure is as it must be. With --proxy, another build or another proxy that
reads the same configuration can be measured.
"""

import argparse
import sys
from dataclasses import dataclass

from configuration import hop, retry_policy
from processes import PROXY, Lab, StartError, counters, drive, free_ports, received
from tables import print_table

WINDOW_SECONDS = 9  # everything must fall into one budget window of 10 s

NO_BUDGET = "{ disabled: true }"
WINDOW_BUDGET = "{ window: { ratio: 10%, min_retries: 0, credit: requests } }"
CONCURRENCY_BUDGET = "{ budget_percent: 20, min_retry_concurrency: 3 }"


# --- Retries multiply: user → A → B → C → a service that always answers 503 ---

USER_REQUESTS = 100


@dataclass
class Strategy:
    title: str
    concurrency: int
    expected: int  # requests that the service receives
    retrying_hops: str = "ABC"
    layer: str = "every"
    budget: str = NO_BUDGET


STRATEGIES = [
    Strategy("every layer tries 3 times", 10, 2700),
    Strategy("only the entrance tries 3 times", 10, 300, retrying_hops="A", layer=""),
    Strategy("every layer, retry budget: 10% in a window", 10, 133, budget=WINDOW_BUDGET),
    Strategy("the same, one request after the other", 1, 133, budget=WINDOW_BUDGET),
    Strategy("every layer, retry budget: 20% of active requests", 1, 2700, budget=CONCURRENCY_BUDGET),
]


def run_chain(strategy, proxy):
    """Requests that A, B and C sent and that the service received, and the seconds that it took."""
    with Lab(proxy) as lab:
        leaf = lab.leaf("--status", 503)
        a, b, c, *admins = free_ports(6)
        chain = list(zip("ABC", (a, b, c), admins, (b, c, leaf)))
        for name, port, admin, upstream in reversed(chain):
            retries = retry_policy() if name in strategy.retrying_hops else ""
            lab.proxy(hop(port, admin, "next", [upstream], retries, strategy.layer, strategy.budget), admin)
        report = drive(a, "-n", USER_REQUESTS, "-c", strategy.concurrency)
        sent = [counters(admin)["cluster.next.upstream_rq_total"] for admin in admins]
        return sent, received(leaf), report


def judge_chain(strategy, sent, leaf, report):
    if report["statuses"] != {"503": USER_REQUESTS}:
        return f"WRONG: the user saw {report['statuses']}, {report['errors']} errors"
    if leaf != strategy.expected:
        return f"WRONG: expected {strategy.expected}"
    if sent[-1] != leaf:
        return f"WRONG: C counts {sent[-1]}"
    if strategy.budget == WINDOW_BUDGET and report["seconds"] > WINDOW_SECONDS:
        return f"WRONG: took longer than one window ({report['seconds']:.1f} s)"
    return "as expected"


def amplification(proxy):
    print(f"\n{USER_REQUESTS} user requests → A → B → C → a service that always answers 503; each hop may try 3 times\n")
    rows, verdicts = [], []
    for strategy in STRATEGIES:
        sent, leaf, report = run_chain(strategy, proxy)
        verdicts.append(judge_chain(strategy, sent, leaf, report))
        rows.append([strategy.title, strategy.concurrency, *sent, leaf, f"{leaf / USER_REQUESTS:.2f}", verdicts[-1]])
    print_table(["strategy", "concurrency", "A sent", "B sent", "C sent", "service received", "per user request",
                 "verdict"], rows)
    return verdicts


# --- A flaky service: what a retry mends, and when the budget calls it an outage ---

FLAKY_REQUESTS = 2000
FLAKY_RATE = 400  # a second: all of it within one window
BUDGET_VERDICTS = ["budget_window", "budget_concurrency"]


@dataclass
class Flakiness:
    fail_percent: int
    retries: bool


@dataclass
class Outcome:
    success_percent: float
    received: int
    retried: int
    refused: dict  # by verdict

    @property
    def amplification(self):
        return self.received / FLAKY_REQUESTS


def run_flaky(flakiness, proxy):
    with Lab(proxy) as lab:
        leaf = lab.leaf("--fail-percent", flakiness.fail_percent, "--latency-ms", 5)
        port, admin = free_ports(2)
        retries = retry_policy("25ms") if flakiness.retries else ""
        lab.proxy(hop(port, admin, "flaky", [leaf], retries), admin)
        report = drive(port, "-n", FLAKY_REQUESTS, "-c", 64, "--rate", FLAKY_RATE)
        stats = counters(admin)
        return Outcome(success_percent=100 * report["statuses"].get("200", 0) / FLAKY_REQUESTS,
                       received=received(leaf),
                       retried=stats.get("cluster.flaky.upstream_rq_retry", 0),
                       refused={v: stats.get(f"cluster.flaky.retry_refused.{v}", 0) for v in BUDGET_VERDICTS})


def judge_flaky(flakiness, outcome):
    refused = sum(outcome.refused.values())
    if outcome.received != FLAKY_REQUESTS + outcome.retried:
        return f"WRONG: {outcome.received} received, {outcome.retried} retries counted"
    if not flakiness.retries:
        right = outcome.retried == 0 and abs(100 - flakiness.fail_percent - outcome.success_percent) < 3
        return "what the service gives" if right else "WRONG: not what the service gives"
    if flakiness.fail_percent < 10:
        right = outcome.success_percent >= 99.5 and outcome.amplification < 1.10
        return "mended" if right else "WRONG: a retry must mend it"
    right = outcome.amplification <= 1.10 and refused > outcome.retried and outcome.success_percent < 90
    return "an outage, and the budget says so" if right else "WRONG: the budget must hold"


def flaky(proxy):
    print(f"\n{FLAKY_REQUESTS} requests, {FLAKY_RATE} a second → Damper with its default budget → a flaky service\n")
    rows, verdicts = [], []
    for flakiness in [Flakiness(p, r) for p in (5, 30) for r in (False, True)]:
        outcome = run_flaky(flakiness, proxy)
        verdicts.append(judge_flaky(flakiness, outcome))
        rows.append([f"{flakiness.fail_percent}%", "2 retries" if flakiness.retries else "no retry",
                     f"{outcome.success_percent:.2f}%", f"{outcome.amplification:.3f}", outcome.retried,
                     *outcome.refused.values(), verdicts[-1]])
    print_table(["failures", "policy", "users served", "amplification", "retries", *BUDGET_VERDICTS, "verdict"], rows)
    return verdicts


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--proxy", default=PROXY, help=f"its command line; default: {PROXY}")
    options.add_argument("--only", choices=["amplification", "flaky"])
    arguments = options.parse_args()
    experiments = {"amplification": amplification, "flaky": flaky}
    try:
        verdicts = [verdict for name, run in experiments.items() if arguments.only in (None, name)
                    for verdict in run(arguments.proxy)]
    except StartError as error:
        sys.exit(str(error))
    wrong = [verdict for verdict in verdicts if verdict.startswith("WRONG")]
    print(f"\n{len(verdicts) - len(wrong)} of {len(verdicts)} figures hold")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
