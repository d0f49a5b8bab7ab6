#!/usr/bin/env python3
"""Words that the project does not use, each with its reason."""

import re
from dataclasses import dataclass

import tree


@dataclass
class Rule:
    pattern: str
    reason: str
    paths: str = r""            # where it holds: a pattern that the path matches from its start
    exceptions: str = r"(?!)"   # paths where it does not
    code_only: bool = True      # comments and strings may say it


_PRODUCT = r"(proxy|filters|config)/"
_TYPE = r"\b(?:class|struct|enum class|enum|using)\s+(?:\[\[\w+\]\]\s*)?"
_EMPTY = "Manager|Handler|Helper|Util|Utils|Impl|Base|Context|Info|Data"

RULES = [
    Rule(rf"{_TYPE}(?!StreamContext\b|FreeBase\b)\w*?(?:{_EMPTY})(?![a-z])\w*\s*(?:final\s*)?[{{:=;]",
         "a type's name says what it is"),
    Rule(r"\bthrow\b", "errors are values: Result", _PRODUCT),
    Rule(r"\bcatch\b", "errors are values; only the readers of YAML and the log library meet exceptions", _PRODUCT,
         r"config/(?!model/)|proxy/base/log\.cc"),
    Rule(r"\bdelete this\b|\bshared_from_this\b|\bweak_ptr\b", "nothing deletes itself; owners are clear", _PRODUCT),
    Rule(r"\busing namespace (?!std::chrono_literals|std::literals)", "names keep their home", r".*\.h$"),
    Rule(r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\b", "nobody waits: use a timer, or move the clock",
         r"(proxy|filters|config|tests)/"),
    Rule(r"\bassert\s*\(", "DAMPER_CHECK, which stays on in release", _PRODUCT),
    Rule(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b", "finish it, or write an issue", code_only=False),
    Rule(r"/wor" r"k/|/ro" r"ot/|/ho" r"me/\w", "a path of one machine", code_only=False),
]


def findings_in(path, text, rules=RULES):
    out = []
    code = tree.without_comments_and_strings(text) if path.endswith((".cc", ".h")) else text
    for rule in rules:
        if not re.match(rule.paths, path) or re.match(rule.exceptions, path):
            continue
        searched = code if rule.code_only else text
        if rule.code_only and not path.endswith((".cc", ".h")):
            continue
        for match in re.finditer(rule.pattern, searched):
            line = searched.count("\n", 0, match.start()) + 1
            out.append(f"{path}:{line}: {match.group().strip()}: {rule.reason}")
    return out


if __name__ == "__main__":
    documents = [path.name for path in tree.ROOT.glob("*.md")]
    everywhere = tree.files(".cc", ".h", ".py", ".sh", ".yaml", ".md", ".txt",
                            folders=[*tree.CODE_FOLDERS, "docs", "deploy"])
    tree.report([finding for path in everywhere + documents for finding in findings_in(path, tree.read(path))])
