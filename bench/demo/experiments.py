#!/usr/bin/env python3
"""Measures with real processes what retries do to a chain of services, and what Damper does about it.

Prints tables, and exits 0 only if every figure is as it must be. With --proxy, another build or another proxy that
reads the same configuration can be measured.
"""

import sys

from amplification import e1
from experiment import main
from flaky import flaky
from useless_work import e2

if __name__ == "__main__":
    sys.exit(main(__doc__, [e1(), e2(), flaky()]))
