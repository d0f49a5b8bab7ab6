#!/usr/bin/env python3
"""Functions of at most 60 lines, files of at most 600. An exception needs a reason, and goes when it is not needed.

A test may be one long table of cases, so its functions are free and its files may have 800 lines.
"""

import ast
import re

import tree

MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 600
MAX_TEST_FILE_LINES = 800

# "path" or "path:function" → reason.
EXCEPTIONS = {
    "proxy/http/message.cc:reason_phrase": "a table: a line for each status code",
    "config/other_fields.cc:table": "a table: a line for each field of Envoy that has no effect here",
}

_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
_NAME = re.compile(r"([\w:~]+|operator\S+)\s*\(")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*", re.MULTILINE)


def cpp_functions(text):
    """(name, first line, lines) of each function: a brace after parentheses that no function encloses."""
    code = tree.without_comments_and_strings(text)
    code = _DIRECTIVE.sub(lambda m: "\n" * m.group().count("\n"), code)
    out, open_braces, start = [], [], 0  # each open brace: the function's (name, first line), "scope" or None
    for match in re.finditer(r"[{};]", code):
        if match.group() == "{":
            open_braces.append(_what_opens(code, start, match.start(), open_braces))
        elif match.group() == "}" and open_braces:
            closed = open_braces.pop()
            if isinstance(closed, tuple):
                out.append((*closed, code.count("\n", 0, match.start()) + 2 - closed[1]))
        start = match.end()
    return out


def _what_opens(code, start, brace, enclosing):
    header = code[start:brace]
    if any(kind != "scope" for kind in enclosing):
        return None
    name = _NAME.search(header)
    if _SCOPE.search(header.split("(")[0]) and not header.rstrip().endswith(")"):
        return "scope"
    if not name or "=" in header[:name.start()]:
        return None
    first = start + len(header) - len(header.lstrip())
    return name.group(1), code.count("\n", 0, first) + 1


def python_functions(text):
    return [(node.name, node.lineno, node.end_lineno - node.lineno + 1) for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef)]


def too_large(path, text):
    """(key of the exception list, finding) for everything that is too large."""
    out = []
    is_test = path.endswith("_test.cc")
    lines, most = text.count("\n"), MAX_TEST_FILE_LINES if is_test else MAX_FILE_LINES
    if lines > most:
        out.append((path, f"{path}:1: {lines} lines, at most {most}"))
    if is_test:
        return out
    functions = python_functions(text) if path.endswith(".py") else cpp_functions(text)
    for name, first, length in functions:
        if length > MAX_FUNCTION_LINES:
            out.append((f"{path}:{name}", f"{path}:{first}: {name} has {length} lines, at most {MAX_FUNCTION_LINES}"))
    return out


def main():
    found = [item for path in tree.files(".cc", ".h", ".py") for item in too_large(path, tree.read(path))]
    needed = {key for key, _ in found}
    tree.report([finding for key, finding in found if key not in EXCEPTIONS] +
                [f"tests/lint/sizes.py:1: the exception {key} is not needed" for key in EXCEPTIONS if key not in needed])


if __name__ == "__main__":
    main()
