#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the code of docs/forecast_in_python.md, cell after cell, and writes what each prints below it.

    cmake --preset dev && cmake --build --preset dev --target totograph_python
    PYTHONPATH=build/dev/python python3 tools/render_python_page.py [--output FILE] [--folder FOLDER]

It runs in the root of the project, or in --folder, which has what the page reads. A cell with a line
`<!-- needs A and B -->` before it keeps what stands below it where a module is missing.
"""
import argparse
import contextlib
import importlib.util
import io
import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "forecast_in_python.md"
# The needs, the code, and what it printed the last time.
CELL = re.compile(r"(?:^<!-- needs ([\w ]+) -->\n)?^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


def rendered(text):
    """The page with new outputs, and how many cells ran."""
    names = {"__name__": "__main__"}
    count = 0

    def run(cell):
        nonlocal count
        needs, code, _ = cell.groups()
        if needs and any(importlib.util.find_spec(one) is None for one in needs.split(" and ")):
            return cell[0]
        said = io.StringIO()
        line = text[: cell.start(2)].count("\n")
        with contextlib.redirect_stdout(said):
            exec(compile("\n" * line + code, str(PAGE), "exec"), names)
        count += 1
        output = "".join(line.rstrip() + "\n" for line in said.getvalue().splitlines())
        before = f"<!-- needs {needs} -->\n" if needs else ""
        return f"{before}```python\n{code}```\n" + (f"\n```text\n{output}```\n" if output else "")

    return CELL.sub(run, text), count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=pathlib.Path, default=PAGE, help="(default: the page itself)")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT, help="where the code runs (default: the project)")
    given = parser.parse_args()
    output = given.output.resolve()
    with contextlib.suppress(ImportError):
        import matplotlib

        matplotlib.use("svg")
        matplotlib.rcParams.update({"svg.hashsalt": "totograph", "svg.fonttype": "none"})  # the same picture each time
        os.environ["SOURCE_DATE_EPOCH"] = "0"
    os.chdir(given.folder)
    page, count = rendered(PAGE.read_text(encoding="utf-8"))
    output.write_text(page, encoding="utf-8")
    print(f"{count} cells ran; wrote {output}")


if __name__ == "__main__":
    main()
