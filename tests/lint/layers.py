#!/usr/bin/env python3
"""Arrows point down: which folder may include which, and the one home of every third-party library.

A change that needs a new arrow edits the table and says why in its commit.
"""

import re

import tree

_HTTP = ["http", "net", "event", "base", "stats", "config/model"]

# Folder → the folders that it may include besides itself.
MAY_INCLUDE = {
    "base": [],
    "event": ["base"],
    "stats": ["base"],
    "config/model": ["base"],
    "net": ["event", "base", "config/model"],
    "http": ["net", "event", "base", "stats", "config/model"],
    "route": ["http", "base", "config/model"],
    "upstream": _HTTP,
    "stream": ["route", "upstream"] + _HTTP,
    "filters": ["stream", "route", "upstream"] + _HTTP,
    "config": ["config/model", "base"],
    "server": ["filters", "stream", "route", "upstream", "config"] + _HTTP,
    "cli": ["server", "filters", "stream", "route", "upstream", "config"] + _HTTP,
    "main": ["server", "cli", "route", "config", "config/model", "base"],
    "bench/demo": ["event", "base"],
}
UNRESTRICTED = ["tests", "bench"]

# A library's headers → where they may be included. Tests include what they like.
LIBRARY_HOMES = {
    r"event2/|event\.h": r"proxy/event/",
    r"openssl/": r"proxy/net/tls_",
    r"ares": r"proxy/net/resolver",
    r"nghttp2/": r"proxy/http/h2_",
    r"re2/": r"proxy/route/",
    r"yaml-cpp/": r"config/(?!model/)",
    r"spdlog/": r"proxy/base/log\.cc",
    r"fmt/": r"proxy/(base/log\.|server/)",
    r"CLI/": r"(proxy|bench/demo)/main\.cc",
}

_INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    """The name in MAY_INCLUDE of a file, by its path from the root or, in an include, from proxy/."""
    path = path.removeprefix("proxy/")
    if path == "main.cc":
        return "main"
    known = [folder for folder in [*MAY_INCLUDE, *UNRESTRICTED] if path.startswith(folder + "/")]
    return max(known, key=len, default=None)


def findings_in(path, text):
    folder = folder_of(path)
    if folder is None:
        return [f"{path}:1: no layer: name its folder in tests/lint/layers.py"]
    out = []
    for match in _INCLUDE.finditer(text):
        where = f"{path}:{text.count(chr(10), 0, match.start(2)) + 1}"
        quoted, target = match.group(1) == '"', match.group(2)
        if quoted and folder not in UNRESTRICTED:
            included = folder_of(target)
            if included != folder and included not in MAY_INCLUDE[folder]:
                out.append(f"{where}: {folder} may not include {target}")
        for library, home in LIBRARY_HOMES.items():
            if folder != "tests" and re.match(library, target) and not quoted and not re.match(home, path):
                out.append(f"{where}: <{target}> is included only in {home}")
    return out


if __name__ == "__main__":
    tree.report([finding for path in tree.files(".cc", ".h") for finding in findings_in(path, tree.read(path))])
