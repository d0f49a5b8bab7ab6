"""B6, B9: what a sidecar of the service refuses, and what a budget would have refused."""

from configuration import hop
from experiment import WRONG, Case, Experiment, for_comparison, must
from processes import Lab, drive, free_ports, received
from storm import (COLUMNS, SLOTS, WIDE_LIMITS, Setup, budget_refusals, recovers_within, retries,
                   storm_behind_damper)

# --- B6: users who retry naively, and a Damper in front of the service that knows what is too late ---

DEADLINE_ADMISSION = f"deadline: {{ expected_cost: learned }}, admission: {{ max_concurrency: {SLOTS} }}"
ONLY_EXPIRED = ("deadline: { margin: 0s }, "
                f"admission: {{ max_concurrency: {SLOTS}, max_queue: 100000, max_wait: 60s }}")


STALL = {15: "/_stall?ms=5000"}


def naive_users(title, judge, filters):
    setup = Setup(0.8, 15, 20, STALL, seconds=60, outbound=False, inbound_filters=filters, patience=1,
                  users=("--tell-patience", "--retries", 1, "--retry-wait-ms", 25))
    return Case(title, lambda proxy, seed: storm_behind_damper(proxy, seed, setup), judge)


def b6():
    return Experiment(
        "B6", "B6: too late is too late",
        "The service of B1 at 80% of its capacity behind its own Damper. Users wait 1 s, say so, and try once more "
        "after any failure. The service stalls for 5 s.",
        COLUMNS,
        [naive_users("no deadlines", for_comparison, ""),
         naive_users("only what has expired is refused", for_comparison, ONLY_EXPIRED),
         naive_users("Damper's deadline admission", must(
             (lambda f: f["goodput_after"] >= 0.95, "goodput under 95%"), recovers_within(3)), DEADLINE_ADMISSION)])


# --- B9: a budget in shadow counts what it would refuse ---

RATE, SECONDS, FAIL_PERCENT = 200, 40, 30


def window(mode):
    return f"{WIDE_LIMITS}, retry_budget: {{ window: {{ ratio: 10% }}, mode: {mode} }}"


def refused_at_fixed_failures(mode):
    """How many retries a budget in this mode refused, by its own count, while the service failed 30%."""
    def measure(proxy, seed):
        with Lab(proxy) as lab:
            leaf = lab.leaf("--fail-percent", FAIL_PERCENT, "--latency-ms", 20, "--exponential", "--seed", seed)
            port, admin = free_ports(2)
            lab.proxy(hop(port, admin, "service", [leaf], retries(1), thresholds=window(mode)), admin)
            drive(port, "-n", RATE * SECONDS, "--rate", RATE, "--poisson", "--seed", seed)
            return {"budget_refused": budget_refusals(admin), "amplification": received(leaf) / (RATE * SECONDS)}
    return measure


def refused_in_the_trap(mode):
    def measure(proxy, seed):
        f = storm_behind_damper(proxy, seed, Setup(0.8, 15, 20, STALL, thresholds=window(mode)))
        return {**f, "amplification": f["attempts"] / f["offered"]}
    return measure


def prediction(figures):
    """The shadow's count against that of a budget in force."""
    def compare(what):
        told, done = (figures[f"{what}, {mode}"]["budget_refused"] for mode in ("in shadow", "in force"))
        return told, done, abs(told - done) / max(1, done)

    told, done, error = compare("30% fail")
    word = "holds" if error <= 0.05 else f"{WRONG}: more than 5%"
    _, _, error_in_trap = compare("B1")
    return [f"{word}: told {told}, refused {done}, {error:.1%} apart",
            f"under B1, where refusals change what comes after: {error_in_trap:.1%} apart"]


def b9():
    some = must((lambda f: f["budget_refused"] > 0, "nothing was refused"))
    measures = {"30% fail": refused_at_fixed_failures, "B1": refused_in_the_trap}
    return Experiment(
        "B9", "B9: a budget in shadow",
        f"A window of 10% in shadow, and in another run in force: {RATE} requests a second with 1 retry to a service "
        f"that answers 503 to {FAIL_PERCENT}%, and the storm of B1.",
        {"refused, or would have been": "budget_refused", "amplification": "amplification"},
        [Case(f"{what}, {name}", measure(mode), some) for what, measure in measures.items()
         for name, mode in (("in shadow", "shadow"), ("in force", "enforce"))], judge_all=prediction)
