"""B1, B3, B4, B5, B8: does a service that was overloaded for a moment ever come back?"""

import math

from configuration import NO_BUDGET
from experiment import WRONG, Case, Experiment, for_comparison, must
from refusals import DEADLINE_ADMISSION
from storm import COLUMNS, WIDE_LIMITS, Setup, amplifies_at_most, recovers_within, storm_behind_damper

START = 20  # second in which the trouble begins
STALL_SECONDS = 5
UNLIMITED_RETRIES = f"{WIDE_LIMITS}, {NO_BUDGET}"


def trap(title, judge, rho, *, stall=STALL_SECONDS, **setup):
    trouble = {"start": START, "end": START + math.ceil(stall), "trouble": {START: f"/_stall?ms={round(1000 * stall)}"}}
    return Case(title, lambda proxy, seed: storm_behind_damper(proxy, seed, Setup(rho, **{**trouble, **setup})), judge)


def never_recovers():
    return must((lambda f: f["recovered_s"] is None, "it came back without a budget: this is no trap"))


def b1():
    return Experiment(
        "B1", "B1: the trap",
        "Poisson load at 80% of the capacity of a first-in-first-out service (300/s, works on for callers that have "
        "left). It stalls for 5 s. Damper: per-try timeout 1 s, 1 retry. Users wait 2 s.",
        COLUMNS,
        [trap("1 retry, no budget", never_recovers(), 0.8, thresholds=UNLIMITED_RETRIES),
         trap("1 retry, Damper's default", must(recovers_within(30), amplifies_at_most(1.05)), 0.8)])


def relative_to_no_retry(figures):
    """At 93% the default may need at most 1.25 times what a system without retries needs."""
    plain, default = (figures[f"ρ 0.93, {policy}"]["recovered_s"] for policy in ("no retry", "Damper's default"))
    if plain is None or default is None or default > 1.25 * plain:
        return [f"{WRONG}: at ρ 0.93 back after {default} s, without retries after {plain} s"]
    return [f"at ρ 0.93: {default} s, {default / max(1, plain):.2f} × no retry, at most 1.25: holds"]


def b3():
    cases = []
    for rho, limit, limit_with_admission, seconds in ((0.67, 9, 2, 85), (0.80, 18, 2, 85), (0.93, None, 3, 125)):
        default = [recovers_within(limit)] if limit else []
        cases += [
            trap(f"ρ {rho:.2f}, no retry", for_comparison, rho, num_retries=0, seconds=seconds),
            trap(f"ρ {rho:.2f}, 1 retry, no budget", never_recovers(), rho, thresholds=UNLIMITED_RETRIES,
                 seconds=seconds),
            trap(f"ρ {rho:.2f}, Damper's default", must(*default, amplifies_at_most(1.05)), rho, seconds=seconds),
            trap(f"ρ {rho:.2f}, and deadline admission", must(recovers_within(limit_with_admission)), rho,
                 seconds=seconds, inbound_filters=DEADLINE_ADMISSION),
        ]
    return Experiment("B3", "B3: up to which load does it come back (E7)", "B1 at other loads. In the last row of each "
                      "load the service has a Damper of its own, with deadlines and admission.", COLUMNS, cases,
                      judge_all=relative_to_no_retry)


def b4():
    trouble = {"start": START, "end": START + 10, "trouble": {START: "/_scale?f=0.4", START + 10: "/_scale?f=1"}}
    return Experiment(
        "B4", "B4: partial loss of capacity",
        "As B1, but instead of the stall only 40% of the capacity remain for 10 s, and 4 retries are allowed.",
        COLUMNS,
        [trap("4 retries, no budget", never_recovers(), 0.8, num_retries=4, thresholds=UNLIMITED_RETRIES,
              **trouble),
         trap("4 retries, Damper's default", must(recovers_within(25), amplifies_at_most(1.05)), 0.8, num_retries=4,
              **trouble)])


def b5():
    """Without retries the backlog of a stall drains in (0.8 / 0.2) times its length: that is no cliff."""
    cases = [trap(f"stall {seconds:g} s, no budget", for_comparison, 0.8, thresholds=UNLIMITED_RETRIES,
                  stall=seconds, seconds=70) for seconds in (1, 1.5)]
    for seconds in (0.25, 1, 1.5, 3, 6, 12):
        cases.append(trap(f"stall {seconds:g} s, Damper's default", must(recovers_within(5 * seconds + 3)), 0.8,
                          stall=seconds, seconds=round(START + 6 * seconds + 40)))
    return Experiment("B5", "B5: no cliff", "B1 with stalls of other lengths; it must be back within 5 times the stall "
                      "and 3 s.", COLUMNS, cases)


def b8():
    """With a bound on what waits, the backlog that callers give up cannot outgrow their patience."""
    cases = []
    for pending in (30, 100, 300, 600):
        limits = f"max_connections: 30, max_pending_requests: {pending}, max_requests: 100000"
        cases.append(trap(f"{pending} may wait, no budget", for_comparison, 0.8, thresholds=f"{limits}, {NO_BUDGET}"))
        cases.append(trap(f"{pending} may wait, Damper's default", must(recovers_within(30), amplifies_at_most(1.05)),
                          0.8, thresholds=limits))
    return Experiment("B8", "B8: a bound on the queue", "B1 with 30 connections to the service, and a bound on the "
                      "requests that wait for one.", COLUMNS, cases)
