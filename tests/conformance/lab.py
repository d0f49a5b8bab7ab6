"""What the conformance tests share: Damper between real clients and real servers, on free ports of the loopback address.

A program that is not installed skips what needs it, with the reason. The Go programs (folder `go`) are built into the
build folder, when there is a Go that is new enough.
"""

import contextlib
import functools
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
sys.path.insert(0, str(ROOT / "bench" / "demo"))

from processes import counters, free_ports, get, running, wait_until  # noqa: E402

BUILD = pathlib.Path(os.environ.get("DAMPER_BUILD", ROOT / "build" / "dev"))
DAMPER = BUILD / "damper"
GO_MODULE = FOLDER / "go"
GO_PROGRAMS = {
    "peer": "./peer",
    "h2spec": "github.com/summerwind/h2spec/cmd/h2spec",
    "client": "google.golang.org/grpc/interop/client",
}
SKIPPED = 77

CONFIGURATION = """\
admin: {{ address: "127.0.0.1:{admin}" }}
listeners:
- name: in
  address: 127.0.0.1:{port}
  codec_type: {codec}
  {listener}
  routes:
  - match: {{ prefix: / }}
    route: {{ cluster: next, {route} }}
clusters:
- name: next
  endpoints: ["127.0.0.1:{upstream}"]
  http: {http}
  {cluster}
"""
RETRIES = """timeout: 20s, retry_policy: {
      retry_on: "connect-failure,refused-stream,reset,unavailable", num_retries: 2, per_try_timeout: 20s }"""
BUDGET = "circuit_breakers: { thresholds: [ { retry_budget: { window: { ratio: 10%, min_retries: 3 } } } ] }"


# --- Programs ------------------------------------------------------------------------------------


def program(name):
    """The path of an installed program; skips the test that asks for one that is not there."""
    found = shutil.which(name)
    if not found:
        raise unittest.SkipTest(f"{name} is not installed")
    return found


@functools.cache
def _go_programs():
    """Builds all of them, for the first that is asked for. Returns their folder, or why there is none."""
    if not shutil.which("go"):
        return None, "go is not installed"
    wanted = re.search(r"^go (\d+)\.(\d+)", (GO_MODULE / "go.mod").read_text(), re.MULTILINE).groups()
    present = re.search(r"go(\d+)\.(\d+)", subprocess.check_output(["go", "version"], text=True)).groups()
    if tuple(map(int, present)) < tuple(map(int, wanted)):
        return None, f"go is version {'.'.join(present)}, not {'.'.join(wanted)}"
    if subprocess.run(["go", "mod", "download"], cwd=GO_MODULE, stderr=subprocess.DEVNULL).returncode != 0:
        return None, "the Go modules cannot be downloaded"
    folder = BUILD / "conformance"
    subprocess.run(["go", "build", "-buildvcs=false", "-o", f"{folder}/", *GO_PROGRAMS.values()], cwd=GO_MODULE,
                   check=True)
    return folder, None


def go_program(name):
    folder, reason = _go_programs()
    if not folder:
        raise unittest.SkipTest(reason)
    return folder / name


def accepts(configuration):
    """Does this build know everything in the configuration?"""
    command = [DAMPER, "--mode", "validate", "--config-yaml", configuration]
    return subprocess.run(command, capture_output=True).returncode == 0


# --- Parts of the laboratory ---------------------------------------------------------------------


@dataclass(frozen=True)
class Proxy:
    port: int
    admin: int
    process: subprocess.Popen

    def counters(self):
        return counters(self.admin)

    def rss_kib(self):
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text()).group(1))


@dataclass(frozen=True)
class Certificate:
    """One that vouches for itself, for localhost and 127.0.0.1."""

    cert: pathlib.Path
    key: pathlib.Path

    def of_listener(self):
        return f"tls: {{ cert: {self.cert}, key: {self.key} }}"

    def of_cluster(self):
        return f"tls: {{ ca: {self.cert}, sni: localhost }}"


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


class LabTest(unittest.TestCase):
    """All that a test starts ends with it."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="damper-conformance-")))

    def log(self, name):
        return self.folder / f"{name}-{len(os.listdir(self.folder))}.log"

    def server(self, name, *arguments):
        """Starts a server that is told its port by an argument with {port}; returns the port."""
        port, = free_ports(1)
        self.start([name, *(str(a).format(port=port) for a in arguments)], lambda: listens(port))
        return port

    def start(self, command, ready):
        log = self.log(pathlib.Path(command[0]).name)
        process = self.enterContext(running(command, log))
        wait_until(ready, process, log)
        return process

    def proxy(self, upstream, codec="AUTO", http=2, listener="", route="timeout: 0s", cluster=""):
        """Starts Damper before the server on port `upstream`; the texts go into CONFIGURATION."""
        port, admin = free_ports(2)
        config = self.folder / f"damper-{port}.yaml"
        config.write_text(CONFIGURATION.format(port=port, admin=admin, upstream=upstream, codec=codec, http=http,
                                               listener=listener, route=route, cluster=cluster))

        def ready():
            with contextlib.suppress(OSError):
                return get(admin, "/ready").strip() == "LIVE"

        command = [DAMPER, "-c", config, "-l", "warning", "--drain-time-s", "1"]
        return Proxy(port, admin, self.start(command, ready))

    def certificate(self):
        """Skips the test where Damper does not speak TLS."""
        out = Certificate(self.folder / "cert.pem", self.folder / "key.pem")
        subprocess.run([program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                        "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", out.key, "-out", out.cert],
                       check=True, capture_output=True)
        if not accepts(CONFIGURATION.format(port=1, admin=2, upstream=3, codec="AUTO", http=2, route="timeout: 0s",
                                            listener=out.of_listener(), cluster=out.of_cluster())):
            raise unittest.SkipTest("this build of Damper has no TLS")
        return out

    def output_of(self, *command, timeout=60, **options):
        """What a program prints; fails with it when its exit status is not 0."""
        result = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                timeout=timeout, **options)
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout[-3000:]}")
        return result.stdout


def main():
    """Runs the tests of the script that calls it, and prints the sum that tests/run.py reads."""
    result = unittest.main(verbosity=2, exit=False).result
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{max(0, result.testsRun - failed - skipped)} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else SKIPPED if skipped == result.testsRun else 0)
