"""E5, E6: a thousand clients that fail at once, and a service that is asked hardly at all."""

import json
import time
from collections import Counter

from configuration import NO_BUDGET, hop, retry_policy
from experiment import Case, Experiment, for_comparison, must
from processes import Drive, Lab, control, counters, free_ports, get
from storm import WIDE_LIMITS

# --- E5 ---

CLIENTS = 1000
WAIT_MS = 500
BIN_MS = 10


def retry_arrivals(leaf):
    """When the leaf received each attempt but the first of its request, in ms."""
    return json.loads(get(leaf, "/_retries"))


def herd(retries, *user_options):
    """All clients wait at the service, which answers 503 to all of them in one moment and then is well."""
    def measure(proxy, seed):
        with Lab(proxy) as lab:
            leaf = lab.leaf("--fail-percent", 100, "--seed", seed)
            port, admin = free_ports(2)
            lab.proxy(hop(port, admin, "service", [leaf], retries, thresholds=f"{WIDE_LIMITS}, {NO_BUDGET}"), admin)
            control(leaf, "/_stall?ms=1500")
            users = Drive(port, "-n", CLIENTS, "--rate", 2 * CLIENTS, "--seed", seed, *user_options)
            time.sleep(1)  # all are there by now, and their fate is decided
            control(leaf, "/_fail?percent=0")
            report = users.report()
            arrivals = retry_arrivals(leaf)
            bins = Counter((at - min(arrivals)) // BIN_MS for at in arrivals)
            peak, mean = max(bins.values()), len(arrivals) * BIN_MS / WAIT_MS
            return {"retries": len(arrivals), "peak": peak, "peak_to_mean": peak / mean,
                    "span_ms": max(arrivals) - min(arrivals), "served": report["statuses"].get("200", 0) / CLIENTS}
    return measure


def e5():
    once = retry_policy(f"{WAIT_MS}ms", 1, "5s")
    return Experiment(
        "E5", "E5: a herd",
        f"{CLIENTS} requests fail in the same moment and are retried once, after {WAIT_MS} ms or a wait that Damper "
        f"draws from [0, {WAIT_MS} ms). Arrivals of the retries in bins of {BIN_MS} ms; the mean is over {WAIT_MS} ms.",
        {"retries": "retries", "busiest bin": "peak", "peak to mean": "peak_to_mean", "span, ms": "span_ms",
         "served": "served"},
        [Case("users wait alike", herd("", "--retries", 1, "--retry-wait-ms", WAIT_MS, "--wait-alike"),
              must((lambda f: f["peak_to_mean"] >= 5, "this is no herd"))),
         Case("Damper, full jitter", herd(once),
              must((lambda f: f["peak_to_mean"] <= 3, "they come back together"),
                   (lambda f: f["served"] == 1, "all must be served")))], alone=True)


# --- E6 ---


def most_in_ten_seconds(arrivals):
    return max((sum(at <= other < at + 10_000 for other in arrivals) for at in arrivals), default=0)


def quiet(rate, seconds, fail_percent, thresholds=""):
    def measure(proxy, seed):
        with Lab(proxy) as lab:
            leaf = lab.leaf("--latency-ms", 20, "--exponential", "--fail-percent", fail_percent, "--seed", seed)
            port, admin = free_ports(2)
            lab.proxy(hop(port, admin, "service", [leaf], retry_policy("25ms", 2), thresholds=thresholds), admin)
            report = Drive(port, "-n", rate * seconds, "--rate", rate, "--seed", seed).report()
            mended = counters(admin).get("cluster.service.upstream_rq_retry_success", 0)
            failed = report["statuses"].get("503", 0)
            arrivals = retry_arrivals(leaf)
            return {"requests": rate * seconds, "failed_first": mended + failed, "mended": mended / (mended + failed),
                    "amplification": 1 + len(arrivals) / (rate * seconds),
                    "most_retries_in_10_s": most_in_ten_seconds(arrivals)}
    return measure


def e6():
    mended = must((lambda f: f["mended"] >= 0.95, "lone failures must be mended"))
    no_floor = "retry_budget: { window: { min_retries: 0 } }"
    return Experiment(
        "E6", "E6: a quiet service",
        "Few requests, up to 2 retries: the floor of the budget must mend lone failures, and must not feed an outage.",
        {"requests": "requests", "failed at first": "failed_first", "of these mended": "mended",
         "amplification": "amplification", "most retries in 10 s": "most_retries_in_10_s"},
        [Case("1 a second, 10% fail, no floor", quiet(1, 80, 10, no_floor), for_comparison),
         Case("1 a second, 10% fail, Damper's default", quiet(1, 80, 10), mended),
         Case("20 a second, 5% fail, Damper's default", quiet(20, 60, 5), mended),
         Case("5 a second, all fail, Damper's default", quiet(5, 40, 100),
              must((lambda f: f["most_retries_in_10_s"] <= 3, "more than the floor")))])
