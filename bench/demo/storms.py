#!/usr/bin/env python3
"""Retry storms with real processes: what a stall, a loss, a herd and an incident do to a service behind Damper.

Prints a table and a verdict for each experiment, and exits 0 only if every figure is as it must be.
"""

import sys

import faults
import herd
import refusals
import trap
from experiment import main

EXPERIMENTS = [faults.e3(), faults.e4(), herd.e5(), herd.e6(), trap.b1(), trap.b3(), trap.b4(), trap.b5(),
               refusals.b6(), trap.b8(), refusals.b9()]

if __name__ == "__main__":
    sys.exit(main(__doc__, EXPERIMENTS, quick=["B1", "B6"]))
