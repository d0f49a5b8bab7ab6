#!/usr/bin/env python3
"""Damper's memory does not grow with the length of a stream, nor with the number of streams that there were."""

import json
import threading
import time

import lab

MIB = 1 << 20
ALLOWED_KIB = 32 * 1024


class Watch:
    """Looks at a proxy's memory while the block runs; grown_kib is by how much it was above the start."""

    def __init__(self, proxy):
        self._proxy = proxy
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.grown_kib = 0

    def __enter__(self):
        self._start = self._proxy.rss_kib()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _look(self):
        while not self._end.wait(0.02):
            self.grown_kib = max(self.grown_kib, self._proxy.rss_kib() - self._start)


class Memory(lab.LabTest):
    def setUp(self):
        super().setUp()
        self.peer = lab.go_program("peer")

    def service_behind_proxy(self):
        proxy = self.proxy(self.server(self.peer, "serve", "-port", "{port}"))
        self.call(proxy, "load", "-calls", 200)  # what a worker allocates once is there
        return proxy

    def call(self, proxy, command, *options):
        return json.loads(self.output_of(self.peer, command, "-port", proxy.port, *options, timeout=120))

    def stream(self, mib, *options):
        proxy = self.service_behind_proxy()
        with Watch(proxy) as watch:
            self.assertEqual(self.call(proxy, "stream", "-mib", mib, *options), {"bytes": mib * MIB})
        self.assertLess(watch.grown_kib, ALLOWED_KIB)

    def test_a_gibibyte_comes_down(self):
        self.stream(1024)

    def test_a_gibibyte_goes_up(self):
        self.stream(1024, "-up")

    def test_a_client_reads_slowly(self):
        self.stream(192, "-pause", "10ms")

    def test_ten_thousand_streams_are_opened_and_reset(self):
        proxy = self.service_behind_proxy()
        # On so many connections, because one that resets more than 250 streams before their answers is cut off.
        options = "load", "-kind", "stream", "-calls", 5_000, "-connections", 20, "-leave-every", 1
        self.assertEqual(self.call(proxy, *options)["codes"], {"Canceled": 5_000})
        before = proxy.rss_kib()
        self.assertEqual(self.call(proxy, *options)["codes"], {"Canceled": 5_000})
        self.assertLess(proxy.rss_kib() - before, 2 * 1024)
        self.assert_nothing_is_left(proxy)

    def assert_nothing_is_left(self, proxy):
        names = "http.in.downstream_rq_active", "cluster.next.upstream_rq_active", "cluster.next.upstream_rq_pending_active"
        deadline = time.monotonic() + 5
        while any(proxy.counters()[name] for name in names) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual([name for name in names if proxy.counters()[name]], [])


if __name__ == "__main__":
    lab.main()
