"""What the lint scripts share: the project's files, C++ without comments, and how findings are reported."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CODE_FOLDERS = ["proxy", "filters", "config", "bench", "tests"]

_NOT_CODE = re.compile(r"""
      //[^\n]*                                       # line comment
    | /\*.*?\*/                                      # block comment
    | R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"             # raw string
    | "(?:\\.|[^"\\\n])*"                            # string
    | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'            # character, not a digit separator
    """, re.VERBOSE | re.DOTALL)


def files(*suffixes, folders=CODE_FOLDERS):
    """Paths relative to the root, sorted."""
    return sorted(str(path.relative_to(ROOT)) for folder in folders for path in (ROOT / folder).rglob("*")
                  if path.suffix in suffixes and "__pycache__" not in path.parts)


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def without_comments_and_strings(text):
    """C++ with the same lines, but blanks for comments and an empty string for each literal."""
    def blank(match):
        kept = '""' if match.group().startswith(('"', "R")) else " "
        return kept + "\n" * match.group().count("\n")
    return _NOT_CODE.sub(blank, text)


def report(findings):
    """Prints "path:line: what" for each finding; the exit status of the script."""
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)
