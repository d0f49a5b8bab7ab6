"""A flaky service: what a retry mends, and when the budget calls it an outage."""

from configuration import hop, retry_policy
from experiment import WRONG, Case, Experiment
from processes import Lab, counters, drive, free_ports, received

REQUESTS = 2000
RATE = 400  # a second: all of it within one window


def case(fail_percent, retries):
    def measure(proxy, seed):
        with Lab(proxy) as lab:
            leaf = lab.leaf("--fail-percent", fail_percent, "--latency-ms", 5, "--seed", seed)
            port, admin = free_ports(2)
            lab.proxy(hop(port, admin, "flaky", [leaf], retry_policy("25ms") if retries else ""), admin)
            report = drive(port, "-n", REQUESTS, "--rate", RATE)
            stats = counters(admin)
            return {"served": 100 * report["statuses"].get("200", 0) / REQUESTS, "received": received(leaf),
                    "amplification": received(leaf) / REQUESTS,
                    "retried": stats.get("cluster.flaky.upstream_rq_retry", 0),
                    "refused": stats.get("cluster.flaky.upstream_rq_retry_overflow", 0)}

    def judge(f):
        if f["received"] != REQUESTS + f["retried"]:
            return f"{WRONG}: {f['received']} received, {f['retried']} retries counted"
        if not retries:
            right = f["retried"] == 0 and abs(100 - fail_percent - f["served"]) < 3
            return "what the service gives" if right else f"{WRONG}: not what the service gives"
        if fail_percent < 10:
            right = f["served"] >= 99.5 and f["amplification"] < 1.10
            return "mended" if right else f"{WRONG}: a retry must mend it"
        right = f["amplification"] <= 1.10 and f["refused"] > f["retried"] and f["served"] < 90
        return "an outage, and the budget says so" if right else f"{WRONG}: the budget must hold"

    return Case(f"{fail_percent}%, {'2 retries' if retries else 'no retry'}", measure, judge)


def flaky():
    return Experiment(
        "flaky", "A flaky service",
        f"{REQUESTS} requests, {RATE} a second → Damper with its default budget → a service that fails a share of "
        "them.",
        {"users served": lambda f: f"{f['served']:.2f}%", "amplification": "amplification", "retries": "retried",
         "refused by the budget": "refused"},
        [case(percent, retries) for percent in (5, 30) for retries in (False, True)])
