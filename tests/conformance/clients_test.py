#!/usr/bin/env python3
"""curl, nghttp, h2load and nghttpd get through Damper what they get without it."""

import contextlib
import hashlib
import http.server
import re
import threading

import lab

MIB = 1 << 20


class Echo(http.server.BaseHTTPRequestHandler):
    """Answers with the body of the request, and tells its fields in the response's."""

    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"hello\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        for name in ("Expect", "Cookie", "X-Large", "Host"):
            self.send_header(f"X-Had-{name}", str(len(self.headers.get(name, ""))))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


class ClientsTest(lab.LabTest):
    def echo(self):
        server = self.enterContext(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        return server.server_port

    def nghttpd(self, *options):
        """Serves /small, /mib, and whatever is asked for with a trailer."""
        (self.folder / "small").write_text("hello\n")
        (self.folder / "mib").write_bytes(self.block())
        return self.server(lab.program("nghttpd"), "-a", "127.0.0.1", "-d", self.folder, "--no-tls",
                           "--trailer=x-check: whole", *options, "{port}")

    def block(self):
        return b"".join(hashlib.sha256(str(i).encode()).digest() for i in range(MIB // 32))


class Curl(ClientsTest):
    def curl(self, proxy, protocol, path, *options):
        """(field section, body) of the response."""
        head, body = self.log("head"), self.log("body")
        self.output_of(lab.program("curl"), "-sS", "--max-time", 20, "-D", head, "-o", body, protocol, *options,
                       f"http://127.0.0.1:{proxy.port}{path}")
        return head.read_text().lower(), body.read_bytes() if body.exists() else b""

    def each(self, *upstreams):
        """(what is tested, proxy, option of curl): every protocol of the client before the servers."""
        servers = {"echo": (self.echo, 1), "nghttpd": (self.nghttpd, 2)}
        out = []
        for name in upstreams:
            start, http = servers[name]
            proxy = self.proxy(start(), http=http)
            out += [(f"{protocol}, {name}", proxy, protocol) for protocol in ("--http1.1", "--http2-prior-knowledge")]
        return out

    def upload(self, size):
        """The option that makes curl send the first `size` bytes of block()."""
        path = self.log("upload")
        path.write_bytes(self.block()[:size])
        return "--data-binary", f"@{path}"

    def test_gets(self):
        for name, proxy, protocol in self.each("echo", "nghttpd"):
            with self.subTest(name):
                head, body = self.curl(proxy, protocol, "/small")
                self.assertIn(" 200", head.splitlines()[0])
                self.assertEqual(body, b"hello\n")

    def test_a_mebibyte_comes_down_whole(self):
        for name, proxy, protocol in self.each("nghttpd"):
            with self.subTest(name):
                self.assertEqual(self.curl(proxy, protocol, "/mib")[1], self.block())

    def test_a_mebibyte_comes_up_and_down_whole(self):
        for name, proxy, protocol in self.each("echo"):
            with self.subTest(name):
                self.assertEqual(self.curl(proxy, protocol, "/", *self.upload(MIB))[1], self.block())

    def test_a_slow_upload_is_waited_for(self):
        for name, proxy, protocol in self.each("echo"):
            with self.subTest(name):
                body = self.curl(proxy, protocol, "/", "--limit-rate", "300k", *self.upload(200_000))[1]
                self.assertEqual(body, self.block()[:200_000])

    def test_the_answer_to_head_has_the_length_and_no_body(self):
        for name, proxy, protocol in self.each("echo", "nghttpd"):
            with self.subTest(name):
                head, printed = self.curl(proxy, protocol, "/small", "--head")
                self.assertIn("content-length: 6", head)
                self.assertTrue(printed.endswith(b"\r\n\r\n"))  # curl prints the fields again, and no body

    def test_an_expectation_is_met(self):
        for name, proxy, protocol in self.each("echo"):
            with self.subTest(name):
                head, body = self.curl(proxy, protocol, "/", "-H", "expect: 100-continue", "--expect100-timeout", 15,
                                       *self.upload(2000))
                self.assertEqual(body, self.block()[:2000])
                self.assertIn(" 100", head.splitlines()[0])

    def test_crumbs_of_a_cookie_are_one_field_for_an_http1_server(self):
        crumbs = [word for crumb in ("a=1", "b=2", "c=3") for word in ("-H", f"cookie: {crumb}")]
        head, _ = self.curl(self.proxy(self.echo(), http=1), "--http2-prior-knowledge", "/", *crumbs)
        self.assertIn(f"x-had-cookie: {len('a=1; b=2; c=3')}", head)

    def test_fields_of_50_kb_pass_and_of_62_kb_are_refused(self):
        for name, proxy, protocol in self.each("echo"):
            with self.subTest(name):
                sized = [["-H", f"x-large: {'x' * size}", "-H", f"x-more: {'x' * size}"] for size in (25_000, 31_000)]
                head, _ = self.curl(proxy, protocol, "/", *sized[0])
                self.assertIn("x-had-x-large: 25000", head)
                head, _ = self.curl(proxy, protocol, "/", *sized[1])
                self.assertIn(" 431", head.splitlines()[0])


class Load(ClientsTest):
    def h2load(self, proxy, *options):
        output = self.output_of(lab.program("h2load"), *options, f"http://127.0.0.1:{proxy.port}/small")
        fields = re.search(r"requests: (\d+) total.* (\d+) succeeded, (\d+) failed", output).groups()
        total, succeeded, failed = map(int, fields)
        self.assertEqual((succeeded, failed), (total, 0), output)
        self.assertEqual(int(re.search(r"status codes: (\d+) 2xx", output).group(1)), total, output)

    def test_ten_thousand_requests_on_ten_connections(self):
        self.h2load(self.proxy(self.nghttpd()), "-n", 10_000, "-c", 10, "-m", 10)

    def test_a_thousand_streams_at_once(self):
        options = "http2_protocol_options: { max_concurrent_streams: 1000 }"
        self.h2load(self.proxy(self.nghttpd("-m", 1000), listener=options), "-n", 5_000, "-c", 1, "-m", 1000)

    def test_more_streams_than_the_upstream_lets_in_wait_their_turn(self):
        self.h2load(self.proxy(self.nghttpd("-m", 10)), "-n", 5_000, "-c", 4, "-m", 100)

    def test_http1_before_an_http2_server(self):
        self.h2load(self.proxy(self.nghttpd()), "--h1", "-n", 5_000, "-c", 10)

    def test_large_answers_at_once(self):
        proxy = self.proxy(self.nghttpd())
        output = self.output_of(lab.program("h2load"), "-n", 200, "-c", 4, "-m", 10, f"http://127.0.0.1:{proxy.port}/mib")
        self.assertIn("200 succeeded, 0 failed", output)
        self.assertIn(f"({200 * MIB}) data", output)


class Nghttp(ClientsTest):
    def test_a_hundred_streams_of_one_client(self):
        proxy = self.proxy(self.nghttpd())
        output = self.output_of(lab.program("nghttp"), "-nv", "--no-dep", "-m", 100, f"http://127.0.0.1:{proxy.port}/small")
        self.assertEqual(len(re.findall(r"recv \(stream_id=\d+\).* :status: 200", output)), 100, output[-2000:])
        self.assertEqual(len(re.findall(r"recv \(stream_id=\d+\).* x-check: whole", output)), 100)

    def test_an_upload_in_ten_streams(self):
        proxy = self.proxy(self.echo(), http=1)
        upload = self.folder / "upload"
        upload.write_bytes(self.block()[:300_000])
        output = self.output_of(lab.program("nghttp"), "-ns", "--no-dep", "-m", 10, "-d", upload, f"http://127.0.0.1:{proxy.port}/")
        self.assertEqual(len(re.findall(r" 200 +29[0-9]K ", output)), 10, output)


if __name__ == "__main__":
    lab.main()
