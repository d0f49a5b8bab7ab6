#!/usr/bin/env python3
"""Trains the release build: puts requests through an instrumented Damper and leaves its counts in build/profile/counts,
by which g++ then lays out the code.

The requests are ordinary ones, so that no special case is made fast at the cost of the others: each goes through one
Damper three times, HTTP/1 to HTTP/2, HTTP/2 to HTTP/2 and HTTP/2 to HTTP/1, and at the end one in a hundred is retried.
"""

import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "demo"))

import processes  # noqa: E402
from configuration import cluster, listener, proxy, retry_policy  # noqa: E402
from processes import Lab, StartError, drive, free_ports  # noqa: E402

BUILD = processes.ROOT / "build" / "profile"
COUNTS = BUILD / "counts"
REQUESTS = 60000
HTTP2 = "  http: 2\n"


def configuration(admin, first, second, third, leaf):
    return proxy(admin,
                 [listener("outbound", first, "second", retry_policy(), name="first"),
                  listener("outbound", second, "third", retry_policy(), name="second"),
                  listener("inbound", third, "leaf", retry_policy())],
                 [cluster("second", [second]) + HTTP2, cluster("third", [third]) + HTTP2, cluster("leaf", [leaf])])


def train():
    """The answers by their status."""
    with Lab(f"{BUILD}/damper -c {{config}} --concurrency 1 -l error") as lab:
        leaf = lab.leaf("--body-bytes", 128, "--fail-percent", 1)
        first, second, third, admin = free_ports(4)
        lab.proxy(configuration(admin, first, second, third, leaf), admin)
        return drive(first, "-n", REQUESTS, "-c", 64)["statuses"]


def main():
    processes.APP = BUILD / "damper-demo-app"  # the other one is not built yet
    shutil.rmtree(COUNTS, ignore_errors=True)
    statuses = train()
    if statuses.get("200", 0) < REQUESTS * 0.99:
        sys.exit(f"not the answers to learn from: {statuses}")
    files = sum(1 for _ in COUNTS.glob("*.gcda"))
    if files == 0:
        sys.exit(f"the instrumented Damper has left no counts in {COUNTS}")
    print(f"counted {REQUESTS} requests in {files} files")


if __name__ == "__main__":
    try:
        main()
    except StartError as error:
        sys.exit(str(error))
