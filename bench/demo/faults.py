"""E3, E4: a lossy network, and an incident: retries of two layers against a service that lost capacity."""

import json
import pathlib
import subprocess
import sys

from configuration import NO_BUDGET, hop
from experiment import Case, Experiment, for_comparison, must
from processes import Lab, control, free_ports
from storm import Storm, WIDE_LIMITS, at_the_leaf, budget_refusals, retries

# --- E3: 30% of what the service receives is lost for 20 s ---

LOSS_PERCENT = 30
RATE, SECONDS, LOSS_START, LOSS_END = 100, 55, 10, 30
LOSSY_NETWORK = pathlib.Path(__file__).with_name("lossy_network.py")


def begin_resets(leaf):
    control(leaf, f"/_fail?percent={LOSS_PERCENT}")


def end_resets(leaf):
    control(leaf, "/_fail?percent=0")


def lossy(proxy, seed, layers, thresholds="", layer="", begin=begin_resets, end=end_resets):
    """Users → so many proxies, each with 2 retries → a service, whose port begin() and end() of the loss are told."""
    with Lab(proxy) as lab:
        leaf = lab.leaf("--latency-ms", 20, "--exponential", "--seed", seed, "--fail-status", 0)
        upstream = leaf
        for _ in range(layers):
            port, admin = free_ports(2)
            lab.proxy(hop(port, admin, "service", [upstream], retries(2), layer, thresholds, "4s"), admin)
            upstream = port
        events = {LOSS_START: lambda: begin(leaf), LOSS_END: lambda: end(leaf)}
        storm = Storm(upstream, leaf, RATE, SECONDS, events, seed, "--patience-ms", 5000)
        return {**storm.figures(LOSS_START, LOSS_END),
                "rise": storm.amplification(LOSS_START + 1, LOSS_END),
                "later": storm.amplification(LOSS_END + 10, SECONDS),
                "failed": 1 - storm.goodput(LOSS_START, LOSS_END),
                "failure_max_ms": storm.report["failure_ms"]["max"]}


def reset_by_the_service(title, judge, layers, thresholds, layer=""):
    return Case(title, lambda proxy, seed: lossy(proxy, seed, layers, thresholds, layer), judge)


def dropped_by_the_network(proxy, seed):
    """In a network namespace of its own, where that is permitted."""
    command = ["unshare", "--map-root-user", "--net", sys.executable, LOSSY_NETWORK, "--proxy", proxy,
               "--seed", str(seed)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
        return {"not_permitted": reason}
    return json.loads(done.stdout)


def e3():
    held = must((lambda f: f["rise"] <= 1.2, "more than 20% more requests"),
                (lambda f: f["later"] <= 1.02, "retries go on after the loss"),
                (lambda f: f["errors"] == 0, "users were left without an answer"),
                (lambda f: f["failure_max_ms"] <= 4000, "failures came late"))

    def held_if_permitted(figures):
        return f"not permitted here: {figures['not_permitted']}" if "not_permitted" in figures else held(figures)

    no_budget = f"{WIDE_LIMITS}, {NO_BUDGET}"
    return Experiment(
        "E3", "E3: loss",
        f"{RATE} requests a second, 2 retries in each layer. For 20 s the service resets {LOSS_PERCENT}% of its "
        "connections instead of answering; in the last row the network drops as many of the packets to it.",
        {"requests received, per user request": "rise", "10 s later": "later", "users failed": "failed",
         "slowest failure, ms": "failure_max_ms"},
        [reset_by_the_service("1 layer, no budget", for_comparison, 1, no_budget),
         reset_by_the_service("1 layer, Damper's default", held, 1, ""),
         reset_by_the_service("3 layers, every one, no budget", for_comparison, 3, no_budget, "every"),
         reset_by_the_service("3 layers, Damper's default", held, 3, ""),
         Case("1 layer, Damper's default, packets dropped", dropped_by_the_network, held_if_permitted)])


# --- E4: the incident at a tenth of its size ---

INVENTORY = ("--slots", 5, "--latency-ms", 30, "--exponential")  # 167 a second
ENTRANCE_RATE = 134
INCIDENT_START, INCIDENT_END, INCIDENT_SECONDS = 20, 30, 110


def incident(layer, thresholds):
    """Users → entrance (1 retry after 1.6 s) → orders (1 retry after 0.8 s) → inventory."""
    def measure(proxy, seed):
        with Lab(proxy) as lab:
            leaf = lab.leaf(*INVENTORY, "--seed", seed)
            entrance, orders, *admins = free_ports(4)
            lab.proxy(hop(orders, admins[1], "service", [leaf], retries(1, "0.8s", "503, 504"), layer, thresholds, "3s"),
                      admins[1])
            lab.proxy(hop(entrance, admins[0], "service", [orders], retries(1, "1.6s", "503, 504"), layer, thresholds, "3.3s"),
                      admins[0])
            events = at_the_leaf(leaf, {INCIDENT_START: "/_scale?f=0.4", INCIDENT_END: "/_scale?f=1"})
            storm = Storm(entrance, leaf, ENTRANCE_RATE, INCIDENT_SECONDS, events, seed, "--patience-ms", 3400)
            return {**storm.figures(INCIDENT_START, INCIDENT_END),
                    "calls_last": storm.amplification(INCIDENT_SECONDS - 20, INCIDENT_SECONDS),
                    "budget_refused": sum(budget_refusals(admin) for admin in admins)}
    return measure


def e4():
    return Experiment(
        "E4", "E4: an incident",
        f"{ENTRANCE_RATE} users a second → entrance (gives each try 1.6 s) → orders (0.8 s) → inventory, one retry in "
        "each. Inventory can serve 167 a second; for 10 s it has 40% of that.",
        {"calls per request in trouble": "amplification_trouble", "20 s after": "amplification_after",
         "last 20 s": "calls_last", "goodput 20 s after": "goodput_after", "recovered after, s": "recovered_s"},
        [Case("both layers retry, no budget", incident("every", f"{WIDE_LIMITS}, {NO_BUDGET}"),
              must((lambda f: f["amplification_after"] >= 3.2, "it must come to some 3.6 calls"),
                   (lambda f: f["recovered_s"] is None, "it must stay down"))),
         Case("Damper's default", incident("", WIDE_LIMITS),
              must((lambda f: max(f["amplification_trouble"], f["amplification_after"]) <= 1.2, "over 1.2 calls"),
                   (lambda f: f["recovered_s"] is not None, "it must recover")))])
