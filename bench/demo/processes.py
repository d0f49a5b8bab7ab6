"""Real processes for the demo and the experiments: services, proxies, and the driver of load.

Each is started in a temporary folder, waited for until it serves, and stopped when its `with` block ends.
"""

import contextlib
import json
import os
import pathlib
import random
import shlex
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
APP = ROOT / "build" / "release" / "damper-demo-app"
PROXY = "build/release/damper -c {config} --concurrency 2 -l error"
START_SECONDS = 10

# Nothing but loopback is spoken to, whatever the environment says about proxies.
_http = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class StartError(Exception):
    pass


def get(port, path, method="GET"):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    with _http.open(request, timeout=5) as response:
        return response.read().decode()


def free_ports(count):
    """Free ports below the range from which the system takes the ports of outgoing connections."""
    sockets = []
    while len(sockets) < count:
        candidate = socket.socket()
        try:
            candidate.bind(("127.0.0.1", random.randrange(20000, 32000)))
            sockets.append(candidate)
        except OSError:
            candidate.close()
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


@contextlib.contextmanager
def running(command, log):
    """A process with its output in the file `log`; ended by SIGTERM, or SIGKILL after 5 seconds."""
    with open(log, "wb") as output:
        process = subprocess.Popen([str(c) for c in command], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(ready, process, log):
    deadline = time.monotonic() + START_SECONDS
    while not (result := ready()):
        if process.poll() is not None or time.monotonic() > deadline:
            raise StartError(f"{shlex.join(process.args)} did not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.02)
    return result


class Lab:
    """Starts everything that one experiment needs; all of it ends with the `with Lab() as lab` block."""

    def __init__(self, proxy=PROXY):
        self._proxy = proxy
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        self.folder = pathlib.Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="damper-demo-")))
        return self

    def __exit__(self, *error):
        return self._stack.__exit__(*error)

    def leaf(self, *options):
        """Starts a service (`damper-demo-app leaf OPTIONS`) and returns its port."""
        return self._application("leaf", *options)

    def relay(self, target_port, *options):
        """Starts an application that calls the service at target_port, and returns its port."""
        return self._application("relay", f"127.0.0.1:{target_port}", *options)

    def _application(self, kind, *options):
        log = self._log(kind)
        process = self._stack.enter_context(running([APP, kind, *options], log))
        line = wait_until(lambda: log.read_text() if "\n" in log.read_text() else None, process, log)
        if not line.startswith("listening on "):
            raise StartError(line)
        return int(line.rsplit(":", 1)[1])

    def proxy(self, configuration, admin_port):
        """Starts a proxy, waits until its admin says that it is ready, and returns its process id."""
        log = self._log("proxy")
        config = log.with_suffix(".yaml")
        config.write_text(configuration)
        command = [word.format(config=config) for word in shlex.split(self._proxy)]
        process = self._stack.enter_context(running(command, log))

        def ready():
            with contextlib.suppress(OSError, urllib.error.URLError):
                return get(admin_port, "/ready").strip() == "LIVE"
            return False

        wait_until(ready, process, log)
        return process.pid

    def _log(self, name):
        return self.folder / f"{name}-{len(os.listdir(self.folder))}.log"


class Drive:
    """A running `damper-demo-app drive`, to be told of trouble meanwhile."""

    def __init__(self, port, *options):
        command = [APP, "drive", f"127.0.0.1:{port}", *options]
        self._process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True)

    def report(self):
        """Waits for its end."""
        output = self._process.communicate()[0]
        if self._process.returncode != 0:
            raise StartError("drive failed")
        return json.loads(output)


def drive(port, *options):
    """The report of `damper-demo-app drive`."""
    return Drive(port, *options).report()


def counts(leaf_port):
    """What a leaf has counted: requests, failed, finished, wasted, …"""
    return json.loads(get(leaf_port, "/_count"))


def control(leaf_port, path):
    """Makes trouble at a leaf, or ends it: "/_stall?ms=5000"."""
    get(leaf_port, path, method="POST")


def received(leaf_port):
    """How many requests a leaf has received."""
    return counts(leaf_port)["requests"]


def counters(admin_port):
    """The counters and gauges of a proxy by name."""
    lines = (line.rsplit(": ", 1) for line in get(admin_port, "/stats").splitlines())
    return {parts[0]: int(parts[1]) for parts in lines if len(parts) == 2 and parts[1].lstrip("-").isdigit()}
