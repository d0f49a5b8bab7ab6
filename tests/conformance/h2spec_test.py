#!/usr/bin/env python3
"""h2spec, strict, finds no fault with Damper as an HTTP/2 server, whatever stands behind it."""

import re
import sys

import lab


class H2spec(lab.LabTest):
    def nghttpd(self):
        (self.folder / "index.html").write_text("hello\n")
        return self.server(lab.program("nghttpd"), "-a", "127.0.0.1", "-d", self.folder, "--no-tls", "{port}")

    def http1_server(self):
        return self.server(sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--protocol", "HTTP/1.1",
                           "--directory", self.folder, "{port}")

    def judge(self, proxy, *options):
        output = self.output_of(lab.go_program("h2spec"), "-S", "-o", "5", "-h", "127.0.0.1", "-p", proxy.port, *options,
                                timeout=120)
        tests, passed = map(int, re.search(r"^(\d+) tests, (\d+) passed", output, re.MULTILINE).groups())
        self.assertGreater(tests, 140)
        self.assertEqual(passed, tests, output)

    def test_before_an_http2_server(self):
        self.judge(self.proxy(self.nghttpd(), codec="HTTP2"))

    def test_before_an_http1_server(self):
        self.judge(self.proxy(self.http1_server(), codec="HTTP2", http=1))

    def test_over_tls(self):
        certificate = self.certificate()
        self.judge(self.proxy(self.nghttpd(), codec="HTTP2", listener=certificate.of_listener()), "-t", "-k")


if __name__ == "__main__":
    lab.main()
