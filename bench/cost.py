#!/usr/bin/env python3
"""What a request costs: throughput, latency, and processor time of the proxy, beside the service without a proxy.

Runs alternate, and the median of each is told: a busy machine disturbs all of them alike. A claim about speed quotes
this before and after, from an idle machine.
"""

import argparse
import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "demo"))

from configuration import hop  # noqa: E402
from processes import PROXY, Lab, StartError, drive, free_ports  # noqa: E402
from tables import print_table  # noqa: E402

BODY_BYTES = 128


def processor_seconds(pid):
    """User and system time of a process so far."""
    after_name = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


def measure(port, pid, arguments):
    before = processor_seconds(pid) if pid else 0
    report = drive(port, "-n", arguments.requests, "-c", arguments.concurrency)
    if report["statuses"] != {"200": arguments.requests}:
        sys.exit(f"not every request was answered with 200: {report}")
    used = processor_seconds(pid) - before if pid else 0
    return {"requests a second": arguments.requests / report["seconds"],
            "p50 ms": report["latency_ms"]["p50"],
            "p99 ms": report["latency_ms"]["p99"],
            "processor µs a request": 1e6 * used / arguments.requests}


def rounded(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--proxy", default=PROXY, help=f"its command line; default: {PROXY}")
    options.add_argument("-n", "--requests", type=int, default=50000)
    options.add_argument("-c", "--concurrency", type=int, default=32)
    options.add_argument("--rounds", type=int, default=5)
    arguments = options.parse_args()
    with Lab(arguments.proxy) as lab:
        leaf = lab.leaf("--body-bytes", BODY_BYTES)
        port, admin = free_ports(2)
        pid = lab.proxy(hop(port, admin, "leaf", [leaf]), admin)
        targets = {"direct": (leaf, None), "through the proxy": (port, pid)}
        rounds = [{name: measure(*target, arguments) for name, target in targets.items()}
                  for _ in range(arguments.rounds)]
    titles = list(rounds[0]["direct"])
    print_table(["", *titles], [[name] + [rounded(statistics.median(r[name][title] for r in rounds)) for title in titles]
                                for name in targets])


if __name__ == "__main__":
    try:
        main()
    except StartError as error:
        sys.exit(str(error))
