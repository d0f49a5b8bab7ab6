#!/usr/bin/env python3
"""Every source file has a test at the mirrored path, or stands in twins.txt with the reason why not."""

import fnmatch

import tree

EXCEPTIONS = "tests/lint/twins.txt"


def twin_of(source):
    return "tests/unit/" + source.removeprefix("proxy/").removesuffix(".cc") + "_test.cc"


def read_exceptions(text):
    """Lines "path: reason", the path may be a pattern; # starts a comment line."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {path.strip(): reason.strip() for path, _, reason in (line.partition(":") for line in lines)}


def findings_in(sources, tests, exceptions):
    out = []
    lonely = [source for source in sources if twin_of(source) not in tests]
    for source in lonely:
        if not any(fnmatch.fnmatch(source, pattern) for pattern in exceptions):
            out.append(f"{source}:1: has no test {twin_of(source)}")
    for pattern, reason in exceptions.items():
        if not fnmatch.filter(lonely, pattern):
            out.append(f"{EXCEPTIONS}:1: {pattern} names no file without a test")
        elif not reason:
            out.append(f"{EXCEPTIONS}:1: {pattern} needs a reason")
    return out


if __name__ == "__main__":
    tree.report(findings_in(tree.files(".cc", folders=["proxy", "filters", "config", "bench/demo"]),
                            set(tree.files(".cc", folders=["tests/unit"])), read_exceptions(tree.read(EXCEPTIONS))))
