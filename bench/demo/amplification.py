"""E1: retries multiply. User → A → B → C → a service that always answers 503; each hop may try 3 times."""

from configuration import NO_BUDGET, hop, proxy, listener, cluster, retry_policy, sidecar
from experiment import WRONG, Case, Experiment
from processes import Lab, counters, drive, free_ports, received

USER_REQUESTS = 100
WINDOW_SECONDS = 9  # everything must fall into one budget window of 10 s

WINDOW_BUDGET = "retry_budget: { window: { ratio: 10%, min_retries: 0, credit: requests } }"
CONCURRENCY_BUDGET = "retry_budget: { budget_percent: 20, min_retry_concurrency: 3 }"


def measured(admins, leaf, *drive_arguments):
    report = drive(*drive_arguments)
    sent = [counters(admin)["cluster.next.upstream_rq_total"] for admin in admins]
    return {"A": sent[0], "B": sent[1], "C": sent[2], "received": received(leaf),
            "per_request": received(leaf) / USER_REQUESTS, "statuses": report["statuses"],
            "errors": report["errors"], "seconds": report["seconds"]}


def judge(expected, in_one_window=False):
    """expected: what the service receives, or the least and the most."""
    least, most = expected if isinstance(expected, tuple) else (expected, expected)

    def verdict(figures):
        if figures["statuses"] != {"503": USER_REQUESTS}:
            return f"{WRONG}: the user saw {figures['statuses']}, {figures['errors']} errors"
        if not least <= figures["received"] <= most:
            return f"{WRONG}: expected {least if least == most else f'{least} to {most}'}"
        if figures["C"] != figures["received"]:
            return f"{WRONG}: C counts {figures['C']}"
        if in_one_window and figures["seconds"] > WINDOW_SECONDS:
            return f"{WRONG}: took longer than one window ({figures['seconds']:.1f} s)"
        return "as expected"
    return verdict


def proxies_in_a_row(concurrency, layer, thresholds, retrying="ABC"):
    """Three proxies, one behind the other, with nothing in between."""
    def measure(command, seed):
        with Lab(command) as lab:
            leaf = lab.leaf("--status", 503, "--seed", seed)
            a, b, c, *admins = free_ports(6)
            for name, port, admin, upstream in reversed(list(zip("ABC", (a, b, c), admins, (b, c, leaf)))):
                retries = retry_policy() if name in retrying else ""
                lab.proxy(hop(port, admin, "next", [upstream], retries, layer, thresholds), admin)
            return measured(admins, leaf, a, "-n", USER_REQUESTS, "-c", concurrency)
    return measure


def applications_in_a_row(concurrency, thresholds, trace_field, handed_on):
    """user → sidecar A → [B's sidecar: in → application → out] → [C's sidecar: the same] → service.

    The applications hand on nothing but the fields of their tracing id.
    """
    def measure(command, seed):
        with Lab(command) as lab:
            leaf = lab.leaf("--status", 503, "--seed", seed)
            a_out, b_in, b_out, c_in, c_out, *admins = free_ports(8)
            for node, admin, inbound, outbound, upstream in (("C", admins[2], c_in, c_out, leaf),
                                                             ("B", admins[1], b_in, b_out, c_in)):
                application = lab.relay(outbound, "--hand-on", *handed_on)
                lab.proxy(sidecar(node, admin, inbound, application, outbound, upstream, retry_policy(),
                                  thresholds=thresholds), admin)
            lab.proxy(proxy(admins[0], [listener("outbound", a_out, "next", retry_policy())],
                            [cluster("next", [b_in], thresholds)], "A"), admins[0])
            return measured(admins, leaf, a_out, "-n", USER_REQUESTS, "-c", concurrency, "--trace", trace_field,
                            "--seed", seed)
    return measure


def e1():
    cases = [
        Case("every layer tries 3 times", proxies_in_a_row(10, "every", NO_BUDGET), judge(2700)),
        Case("only the entrance tries 3 times", proxies_in_a_row(10, "", NO_BUDGET, "A"), judge(300)),
        Case("every layer, retry budget: 10% in a window", proxies_in_a_row(10, "every", WINDOW_BUDGET),
             judge(133, True)),
        Case("the same, one request after the other", proxies_in_a_row(1, "every", WINDOW_BUDGET), judge(133, True)),
        Case("every layer, retry budget: 20% of active requests", proxies_in_a_row(1, "every", CONCURRENCY_BUDGET),
             judge(2700)),
        Case("Damper's layers, through applications, no budget",
             applications_in_a_row(10, NO_BUDGET, "traceparent", ["traceparent", "tracestate"]), judge(300)),
        Case("Damper's layers, through applications, its budget",
             applications_in_a_row(10, "", "x-request-id", ["x-request-id"]), judge((USER_REQUESTS, 110), True)),
    ]
    return Experiment(
        "E1", "Retries multiply",
        f"{USER_REQUESTS} user requests → A → B → C → a service that always answers 503; each hop may try 3 times. In "
        "the last two rows stand small applications between the sidecars, which hand on only their tracing id.",
        {"A sent": "A", "B sent": "B", "C sent": "C", "service received": "received",
         "per user request": lambda f: f"{f['per_request']:.2f}"}, cases, alone=True)
