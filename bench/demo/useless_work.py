"""E2: timeouts that grow along the chain make useless work.

A user waits 1 s; A waits 2 s for B, B waits 3 s for C, and C needs 2.5 s.
"""

import time

from configuration import NO_BUDGET, cluster, listener, proxy, retry_policy, sidecar
from experiment import Case, Experiment, must
from processes import Lab, counts, drive, free_ports

C_NEEDS_MS = 2500
RETRY_ON = "connect-failure,reset,retriable-status-codes"
DEADLINES = "deadline: { expected_cost: 2.5s }"
# Nobody is told how much time is left, not even in Envoy's way.
NO_DEADLINES = "deadline: { emit: [] }, router: { suppress_envoy_headers: true }"


def wait_until_idle(leaf):
    """Until the service has finished what applications still call it for."""
    quiet_since = time.monotonic()
    before = counts(leaf)
    while time.monotonic() - quiet_since < 3:  # longer than A waits before it tries again
        time.sleep(0.1)
        now = counts(leaf)
        if now != before or now["running"]:
            before, quiet_since = now, time.monotonic()


def chain(layer, thresholds, filters_of_c, filters, *user_options):
    """user → sidecar → A's sidecar → A → … → B → … → C's sidecar → C; three attempts at every layer."""
    def tries(per_try_timeout):
        # Whether this proxy or the next one notices first that a try has had its time must not matter.
        return retry_policy("1ms", 2, per_try_timeout, RETRY_ON, "503, 504")

    def measure(command, seed):
        with Lab(command) as lab:
            service = lab.leaf("--latency-ms", C_NEEDS_MS, "--seed", seed)
            user, a_in, a_out, b_in, b_out, c_in, *admins = free_ports(10)
            lab.proxy(sidecar("C", admins[3], c_in, service, layer=layer, inbound_filters=filters_of_c), admins[3])
            for node, admin, inbound, outbound, upstream, waits in (("B", admins[2], b_in, b_out, c_in, "3s"),
                                                                    ("A", admins[1], a_in, a_out, b_in, "2s")):
                application = lab.relay(outbound)
                lab.proxy(sidecar(node, admin, inbound, application, outbound, upstream, tries(waits), layer,
                                  thresholds, inbound_filters=filters, outbound_filters=filters), admin)
            lab.proxy(proxy(admins[0], [listener("outbound", user, "next", tries("1s"), layer, filters=filters)],
                            [cluster("next", [a_in], thresholds)], "user"), admins[0])
            report = drive(user, "-n", 1, "--trace", "traceparent", "--seed", seed, *user_options)
            wait_until_idle(service)
            work = counts(service)
            return {"received": work["requests"], "finished": work["finished"], "at_a_time": work["max_running"],
                    "failure_ms": report["failure_ms"]["max"], "statuses": report["statuses"],
                    "errors": report["errors"]}
    return measure


def e2():
    return Experiment(
        "E2", "Useless work",
        "One user waits 1 s; A waits 2 s for B, B waits 3 s for C, and C needs 2.5 s; 3 attempts at every layer. A and "
        "B are applications that hand on their tracing id and work on when their caller has left.",
        {"C received": "received", "finished": "finished", "at a time": "at_a_time",
         "user had the failure after, ms": "failure_ms"},
        [Case("no deadlines, every layer retries", chain("every", NO_BUDGET, NO_DEADLINES, NO_DEADLINES),
              must((lambda f: f["received"] == 9 and f["finished"] == 9, "C must receive and finish 9"))),
         Case("Damper's deadlines and layers",
              chain("", "", DEADLINES, "", "--patience-ms", 1000, "--tell-patience"),
              must((lambda f: f["received"] == 0, "C must receive nothing"),
                   (lambda f: f["statuses"] == {"504": 1}, "the user must be answered 504"),
                   (lambda f: f["failure_ms"] <= 20, "the user must know within 20 ms")))], alone=False)
