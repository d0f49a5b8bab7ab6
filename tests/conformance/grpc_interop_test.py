#!/usr/bin/env python3
"""grpc-go's interop client gets the same from grpc-go's interop service through Damper as without it."""

import subprocess

import lab

CASES = """
    empty_unary large_unary client_streaming server_streaming ping_pong empty_stream timeout_on_sleeping_server
    cancel_after_begin cancel_after_first_response status_code_and_message special_status_message custom_metadata
    unimplemented_method unimplemented_service""".split()

# Its deadline is 1 ms. The service, for which it has run out as well, may break the stream off before the client gives
# up, and then the client hears of a broken stream instead: tried again when nothing else fails.
RACE = "timeout_on_sleeping_server"


class Interop(lab.LabTest):
    def service(self, certificate=None):
        options = ["-cert", certificate.cert, "-key", certificate.key] if certificate else []
        return self.server(lab.go_program("peer"), "serve", "-port", "{port}", *options)

    def failed_cases(self, port, certificate=None, cases=CASES):
        """The names of the cases that fail, each with what the client says about it."""
        options = ["--use_tls", "--use_test_ca", f"--ca_file={certificate.cert}",
                   "--server_host_override=localhost"] if certificate else []
        runs = {case: subprocess.Popen(
            [lab.go_program("client"), "--server_host=127.0.0.1", f"--server_port={port}", f"--test_case={case}", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for case in cases}
        texts = {case: run.communicate(timeout=60)[1] for case, run in runs.items()}
        return {case: texts[case] for case, run in runs.items() if run.returncode != 0}

    def judge(self, proxy, certificate=None):
        failed = self.failed_cases(proxy.port, certificate)
        for _ in range(5):
            if list(failed) == [RACE]:
                failed = self.failed_cases(proxy.port, certificate, [RACE])
        self.assertFalse(failed, "\n".join(f"{case}: {text}" for case, text in failed.items()))
        self.assertGreaterEqual(proxy.counters()["cluster.next.upstream_rq_total"], len(CASES))

    def test_directly(self):
        self.assertFalse(self.failed_cases(self.service()))

    def test_through_damper(self):
        self.judge(self.proxy(self.service()))

    def test_through_two_dampers(self):
        self.judge(self.proxy(self.proxy(self.service()).port))

    def test_with_retries_a_budget_and_a_route_timeout(self):
        self.judge(self.proxy(self.service(), route=lab.RETRIES, cluster=lab.BUDGET))

    def test_with_a_deadline_filter(self):
        self.judge(self.proxy(self.service(), listener="filters: [ deadline: { expected_cost: learned } ]",
                              route=lab.RETRIES, cluster=lab.BUDGET))

    def test_with_tls_downstream(self):
        certificate = self.certificate()
        self.judge(self.proxy(self.service(), listener=certificate.of_listener()), certificate)

    def test_with_tls_upstream(self):
        certificate = self.certificate()
        self.judge(self.proxy(self.service(certificate), cluster=certificate.of_cluster()))

    def test_with_tls_on_both_sides(self):
        certificate = self.certificate()
        self.judge(self.proxy(self.service(certificate), listener=certificate.of_listener(),
                              cluster=certificate.of_cluster()), certificate)


if __name__ == "__main__":
    lab.main()
