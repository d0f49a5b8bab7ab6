#!/usr/bin/env python3
"""A live demo until Ctrl-C: two services, one of them flaky, behind one Damper, and a gentle driver of load.

A line a second tells what the users saw and what Damper did about it.
"""

import sys

from configuration import hop, retry_policy
from processes import Lab, StartError, counters, drive

PORT, ADMIN_PORT = 8080, 9901
RATE = 50  # requests a second
FLAKY_PERCENT = 10

WATCHED = {"retries": "upstream_rq_retry", "refused by the budget": "upstream_rq_retry_overflow"}


def changes(before, after):
    return {title: after.get(f"cluster.shop.{name}", 0) - before.get(f"cluster.shop.{name}", 0)
            for title, name in WATCHED.items()}


def main():
    with Lab() as lab:
        leaves = [lab.leaf(), lab.leaf("--fail-percent", FLAKY_PERCENT)]
        configuration = hop(PORT, ADMIN_PORT, "shop", leaves, retry_policy("25ms"))
        lab.proxy(configuration, ADMIN_PORT)
        print(f"Damper runs with this configuration:\n\n{configuration}\n"
              f"The second service fails {FLAKY_PERCENT}% of its requests. Try, in another terminal:\n"
              f"  curl -i 127.0.0.1:{PORT}/\n"
              f"  curl 127.0.0.1:{ADMIN_PORT}/stats?filter=cluster.shop\n", flush=True)
        before = counters(ADMIN_PORT)
        while True:
            report = drive(PORT, "-n", RATE, "-c", 8, "--rate", RATE)
            after = counters(ADMIN_PORT)
            seen = ", ".join(f"{count} × {status}" for status, count in report["statuses"].items())
            done = ", ".join(f"{title} {count}" for title, count in changes(before, after).items())
            print(f"users saw {seen}; p50 {report['latency_ms']['p50']:.1f} ms; {done}", flush=True)
            before = after


if __name__ == "__main__":
    try:
        main()
    except StartError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        print("\nstopped")
