"""The course of one storm: steady load on a service of bounded capacity, trouble, and a look at what happens after."""

import threading
import time
from dataclasses import dataclass

from configuration import hop, retry_policy
from processes import Drive, Lab, control, counters, counts, free_ports

# The service works by timer: 30 at a time, exponentially distributed with a mean of 100 ms, first in, first out.
SLOTS, MEAN_MS = 30, 100
CAPACITY = SLOTS * 1000 / MEAN_MS  # requests a second

RETRY_ON = "connect-failure,reset,retriable-status-codes"
WIDE_LIMITS = "max_connections: 100000, max_pending_requests: 100000, max_requests: 100000"

WINDOW = 5        # seconds over which goodput is judged
STEADY = 30       # seconds for which it must then stay
GOOD_SHARE = 0.95


def bounded_leaf(lab, seed, *options):
    return lab.leaf("--slots", SLOTS, "--latency-ms", MEAN_MS, "--exponential", "--seed", seed, *options)


def retries(num_retries, per_try_timeout="1s", statuses="503"):
    return retry_policy("25ms", num_retries, per_try_timeout, RETRY_ON, statuses)


def goodput(offered, good, first, last):
    """Share of the requests that came in these seconds that were served; offered and good are series by second."""
    return sum(good[first:last]) / max(1, sum(offered[first:last]))


def recovery(offered, good, end_of_trouble):
    """Seconds from there to the first window whose goodput is good and stays so; None if there is none.

    Judged by the users who came in a window, so that chance in their number neither fakes nor hides it.
    """
    fine = [goodput(offered, good, second, second + WINDOW) >= GOOD_SHARE
            for second in range(end_of_trouble, len(offered) - WINDOW + 1)]
    steady_windows = STEADY - WINDOW + 1
    for after in range(len(fine) - steady_windows + 1):
        if all(fine[after:after + steady_windows]):
            return after
    return None


class Storm:
    """A run: users come at `rate` for `seconds`; trouble has functions by the second in which to call them."""

    def __init__(self, port, leaf, rate, seconds, trouble, seed, *user_options):
        self.seconds = seconds
        self._leaf = leaf
        self._samples = {}
        drive = Drive(port, "-n", round(rate * seconds), "--rate", rate, "--poisson", "--seed", seed, *user_options)
        begin = time.monotonic()
        sampler = threading.Thread(target=self._sample, args=(begin, trouble))
        sampler.start()
        self.report = drive.report()
        sampler.join()
        self.offered, self.good = self.report["offered"], self.report["good"]

    def _sample(self, begin, trouble):
        """Makes trouble in its seconds, and takes the leaf's counts in every one."""
        for second in range(self.seconds + 1):
            time.sleep(max(0, begin + second - time.monotonic()))
            if second in trouble:
                trouble[second]()
            self._samples[second] = counts(self._leaf)

    def goodput(self, first, last):
        return goodput(self.offered, self.good, first, last)

    def amplification(self, first, last):
        """Requests at the leaf for each request of a user, in these seconds."""
        sent = self._samples[last]["requests"] - self._samples[first]["requests"]
        return sent / max(1, sum(self.offered[first:last]))

    def figures(self, start, end):
        """What is recorded of a storm whose trouble was from start to end."""
        final = counts(self._leaf)
        return {"goodput_before": self.goodput(2, start),
                "goodput_trouble": self.goodput(start, end),
                "goodput_after": self.goodput(end, end + 20),
                "recovered_s": recovery(self.offered, self.good, end),
                "amplification_trouble": self.amplification(start, end),
                "amplification_after": self.amplification(end, end + 20),
                "offered": sum(self.offered),
                "good": sum(self.good),
                "attempts": final["requests"],
                "wasted": final["wasted"],
                "statuses": self.report["statuses"],
                "timeouts": self.report["timeouts"],
                "errors": self.report["errors"],
                "failure_ms": self.report["failure_ms"],
                "latency_ms": self.report["latency_ms"],
                "series_offered": self.offered,
                "series_good": self.good}


def at_the_leaf(leaf, events):
    """Trouble for a Storm: control paths of the leaf by second."""
    return {second: lambda path=path: control(leaf, path) for second, path in events.items()}


COLUMNS = {
    "goodput before": "goodput_before",
    "goodput in trouble": "goodput_trouble",
    "goodput 20 s after": "goodput_after",
    "recovered after, s": "recovered_s",
    "amplification in trouble": "amplification_trouble",
    "amplification 20 s after": "amplification_after",
    "wasted": "wasted",
    "refused by budget": "budget_refused",
}


def budget_refusals(admin):
    """Retries that the budget refused, or in shadow would have refused."""
    stats = counters(admin)
    return sum(stats.get(f"cluster.service.{name}", 0)
               for name in ("upstream_rq_retry_overflow", "budget_shadow_denied"))


@dataclass
class Setup:
    """users → [outbound Damper →] [inbound Damper →] service."""
    rho: float                  # load as a share of the capacity
    start: int                  # seconds of trouble
    end: int
    trouble: dict               # control paths of the leaf by second
    seconds: int = 85
    outbound: bool = True
    num_retries: int = 1        # of the outbound one
    thresholds: str = WIDE_LIMITS
    inbound_filters: str = None  # None: there is no inbound one
    patience: int = 0           # of users for each try, in seconds; 0: as long as all tries may take
    users: tuple = ()           # more options of theirs


def storm_behind_damper(proxy, seed, setup):
    """The figures of a storm."""
    patience = setup.patience or setup.num_retries + 1
    with Lab(proxy) as lab:
        leaf = upstream = bounded_leaf(lab, seed)
        inbound, outbound, *admins = free_ports(4)
        if setup.inbound_filters is not None:
            lab.proxy(hop(inbound, admins[0], "service", [upstream], thresholds=WIDE_LIMITS, direction="inbound",
                          filters=setup.inbound_filters), admins[0])
            upstream = inbound
        if setup.outbound:
            policy = retries(setup.num_retries) if setup.num_retries else ""
            lab.proxy(hop(outbound, admins[1], "service", [upstream], policy, thresholds=setup.thresholds,
                          timeout=f"{patience}s"), admins[1])
            upstream = outbound
        storm = Storm(upstream, leaf, setup.rho * CAPACITY, setup.seconds, at_the_leaf(leaf, setup.trouble), seed,
                      "--patience-ms", 1000 * patience, *setup.users)
        refused = budget_refusals(admins[1]) if setup.outbound else 0
        return {**storm.figures(setup.start, setup.end), "budget_refused": refused}


def recovers_within(seconds):
    return lambda f: f["recovered_s"] is not None and f["recovered_s"] <= seconds, f"not back within {seconds:g} s"


def amplifies_at_most(limit):
    return lambda f: f["amplification_after"] <= limit, f"amplification over {limit}"
