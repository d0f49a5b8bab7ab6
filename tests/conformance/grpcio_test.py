#!/usr/bin/env python3
"""Python's grpcio, on both sides of Damper: what a call's caller and its service learn of each other."""

import concurrent.futures
import threading
import time
import unittest

import lab

try:
    import grpc
except ImportError:
    grpc = None

MIB = 1 << 20
SECONDS = 20  # of calls that are to succeed
FIRST_ATTEMPT_SECONDS = 0.5


class Service:
    """Methods of /test/; messages are bytes as they are. Notes what came in."""

    def __init__(self):
        self.attempts = []  # seconds that each call was given
        self.cancelled = threading.Event()

    def fail_once(self, request, context):
        self.attempts.append(context.time_remaining())
        if len(self.attempts) == 1:
            time.sleep(FIRST_ATTEMPT_SECONDS)
            context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
        return request

    def fail(self, _request, context):
        context.set_trailing_metadata([("x-reason-bin", bytes(range(256)))])
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "größer als 100 %")

    def sleep(self, _request, context):
        self.attempts.append(context.time_remaining())
        context.add_callback(self.cancelled.set)
        self.cancelled.wait(SECONDS)
        return b""

    def tell(self, request, context):
        context.send_initial_metadata([("x-echo", dict(context.invocation_metadata())["x-ask"])])
        return request

    def echo(self, requests, _context):
        yield from requests

    def endless(self, _request, context):
        context.add_callback(self.cancelled.set)
        while context.is_active():
            yield b"x" * 1000

    def handlers(self):
        unary = {name: grpc.unary_unary_rpc_method_handler(getattr(self, name))
                 for name in ("fail_once", "fail", "sleep", "tell")}
        return unary | {"echo": grpc.stream_stream_rpc_method_handler(self.echo),
                        "endless": grpc.unary_stream_rpc_method_handler(self.endless)}


@unittest.skipUnless(grpc, "the grpc package is not installed")
class Grpcio(lab.LabTest):
    def setUp(self):
        super().setUp()
        self.service = Service()
        server = grpc.server(concurrent.futures.ThreadPoolExecutor(8))
        server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("test", self.service.handlers())])
        upstream = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self.addCleanup(lambda: server.stop(0).wait())
        retries = "timeout: 0s, retry_policy: { retry_on: unavailable, num_retries: 2, idempotent: true }"
        deadlines = "filters: [ deadline: {} ]"
        self.damper = self.proxy(upstream, route=retries, listener=deadlines)
        self.channel = self.enterContext(grpc.insecure_channel(f"127.0.0.1:{self.damper.port}"))

    def error_of(self, call):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        return raised.exception

    def test_a_call_that_is_unavailable_once_is_tried_again(self):
        call = self.channel.unary_unary("/test/fail_once")
        self.assertEqual(call(b"hello", timeout=SECONDS), b"hello")
        self.assertEqual(len(self.service.attempts), 2)
        self.assertEqual(self.damper.counters()["cluster.next.upstream_rq_retry_success"], 1)

    def test_each_attempt_is_told_what_is_left(self):
        self.channel.unary_unary("/test/fail_once")(b"", timeout=SECONDS)
        first, second = self.service.attempts
        self.assertLess(first, SECONDS + 0.1)
        self.assertLess(second, first - FIRST_ATTEMPT_SECONDS + 0.1)

    def test_a_deadline_ends_the_call_on_both_sides(self):
        error = self.error_of(lambda: self.channel.unary_unary("/test/sleep")(b"", timeout=0.3))
        self.assertEqual(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assertTrue(self.service.cancelled.wait(5))
        self.assertEqual(len(self.service.attempts), 1)

    def test_a_cancelled_call_ends_at_the_service(self):
        call = self.channel.unary_unary("/test/sleep").future(b"", timeout=SECONDS)
        while not self.service.attempts:
            self.assertFalse(call.done())
        call.cancel()
        self.assertTrue(self.service.cancelled.wait(5))

    def test_a_cancelled_stream_ends_at_the_service(self):
        responses = self.channel.unary_stream("/test/endless")(b"", timeout=SECONDS)
        self.assertEqual(len(next(responses)), 1000)
        responses.cancel()
        self.assertTrue(self.service.cancelled.wait(5))

    def test_status_message_and_binary_trailers_arrive(self):
        error = self.error_of(lambda: self.channel.unary_unary("/test/fail")(b"", timeout=SECONDS))
        self.assertEqual((error.code(), error.details()), (grpc.StatusCode.FAILED_PRECONDITION, "größer als 100 %"))
        self.assertEqual(dict(error.trailing_metadata())["x-reason-bin"], bytes(range(256)))

    def test_metadata_crosses_both_ways(self):
        _, call = self.channel.unary_unary("/test/tell").with_call(b"", timeout=SECONDS, metadata=[("x-ask", "here")])
        self.assertEqual(dict(call.initial_metadata())["x-echo"], "here")

    def test_sixty_four_mebibytes_cross_both_ways_at_once(self):
        messages = (bytes([n]) * MIB for n in range(64))
        echoed = self.channel.stream_stream("/test/echo")(messages, timeout=3 * SECONDS)
        for n, message in enumerate(echoed):
            self.assertEqual(message, bytes([n]) * MIB)
        self.assertEqual(n, 63)


if __name__ == "__main__":
    lab.main()
