#!/usr/bin/env python3
"""E3 with packets that the network drops: to be run in a network namespace of its own, where it is root.

Prints the figures as JSON.
"""

import argparse
import json
import subprocess

from faults import LOSS_PERCENT, lossy


def drop(action, port):
    subprocess.run(["iptables", "-w", action, "INPUT", "-i", "lo", "-p", "tcp", "--dport", str(port), "-m", "statistic",
                    "--mode", "random", "--probability", str(LOSS_PERCENT / 100), "-j", "DROP"], check=True)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--proxy", required=True)
    options.add_argument("--seed", type=int, required=True)
    arguments = options.parse_args()
    subprocess.run(["iptables", "-w", "-L", "-n"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    print(json.dumps(lossy(arguments.proxy, arguments.seed, 1, begin=lambda port: drop("-A", port),
                           end=lambda port: drop("-D", port))))


if __name__ == "__main__":
    main()
