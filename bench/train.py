#!/usr/bin/env python3
"""Trains the release build: puts requests through an instrumented Damper and leaves its counts in build/profile/counts,
by which g++ then lays out the code.

The requests are ordinary ones, so that no special case is made fast at the cost of the others: each goes through one
Damper three times, HTTP/1 to HTTP/2, HTTP/2 to HTTP/2 and HTTP/2 to HTTP/1. Most are small and without a body, one in a
hundred is retried; some are calls as gRPC makes them, with bodies and trailers.
"""

import concurrent.futures
import contextlib
import pathlib
import shutil
import socket
import socketserver
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "demo"))

import processes  # noqa: E402
from configuration import cluster, listener, proxy, retry_policy  # noqa: E402
from processes import Lab, StartError, drive, free_ports  # noqa: E402

BUILD = processes.ROOT / "build" / "profile"
COUNTS = BUILD / "counts"
REQUESTS = 60000
CALLS = 8000
CALLERS = 8
HTTP2 = "  http: 2\n"

CALL = (b"POST /demo.Service/Call HTTP/1.1\r\nhost: demo\r\ncontent-type: application/grpc\r\nte: trailers\r\n"
        b"transfer-encoding: chunked\r\n\r\n10\r\n" + bytes(16) + b"\r\n0\r\n\r\n")
ANSWER = (b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n\r\n"
          b"10\r\n" + bytes(16) + b"\r\n0\r\ngrpc-status: 0\r\n\r\n")


def read_message(stream):
    """Reads a chunked message to its end and returns its first line; empty: there is none."""
    first = stream.readline()
    while stream.readline().strip():
        pass
    while size := int(stream.readline() or b"0", 16):
        stream.read(size + 2)
    while stream.readline().strip():
        pass
    return first


class Service(socketserver.StreamRequestHandler):
    def handle(self):
        while read_message(self.rfile):
            self.wfile.write(ANSWER)


@contextlib.contextmanager
def service():
    """A service that answers calls; its port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Service) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def call(port):
    """One caller's share of the calls; how many were answered."""
    with socket.create_connection(("127.0.0.1", port)) as connection, connection.makefile("rb") as answers:
        answered = 0
        for _ in range(CALLS // CALLERS):
            connection.sendall(CALL)
            answered += read_message(answers).startswith(b"HTTP/1.1 200")
        return answered


def call_all(port):
    with concurrent.futures.ThreadPoolExecutor(CALLERS) as callers:
        return sum(callers.map(call, [port] * CALLERS))


def damper(lab, upstream):
    """Starts an instrumented Damper before the port of an upstream, and returns its own."""
    first, second, third, admin = free_ports(4)
    lab.proxy(proxy(admin,
                    [listener("outbound", first, "second", retry_policy(), name="first"),
                     listener("outbound", second, "third", retry_policy(), name="second"),
                     listener("inbound", third, "service", retry_policy())],
                    [cluster("second", [second]) + HTTP2, cluster("third", [third]) + HTTP2,
                     cluster("service", [upstream])]), admin)
    return first


def main():
    processes.APP = BUILD / "damper-demo-app"  # the other one is not built yet
    shutil.rmtree(COUNTS, ignore_errors=True)
    with Lab(f"{BUILD}/damper -c {{config}} --concurrency 1 -l error") as lab:
        leaf = lab.leaf("--body-bytes", 128, "--fail-percent", 1)
        answered = drive(damper(lab, leaf), "-n", REQUESTS, "-c", 64)["statuses"].get("200", 0)
        with service() as upstream:
            called = call_all(damper(lab, upstream))
    if answered < REQUESTS * 0.99 or called < CALLS:
        sys.exit(f"not enough to learn from: of {REQUESTS} requests {answered} were answered, of {CALLS} calls {called}")
    files = sum(1 for _ in COUNTS.glob("*.gcda"))
    if files == 0:
        sys.exit(f"the instrumented Damper has left no counts in {COUNTS}")
    print(f"counted {REQUESTS} requests and {CALLS} calls in {files} files")


if __name__ == "__main__":
    try:
        main()
    except StartError as error:
        sys.exit(str(error))
