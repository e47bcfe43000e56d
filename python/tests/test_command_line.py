# SPDX-License-Identifier: Apache-2.0
"""The command line with tables in files, and the page that is made by Python."""
import importlib.util
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
from support import CHECKPOINT, PACKAGE, waves

from totograph.__main__ import main as command_line
from totograph._table import Table


def forecast_file(tmp_path, capfd, text, *arguments):
    file = tmp_path / "data.csv"
    file.write_text(text)
    status = command_line(["forecast", str(file), "--checkpoint", str(CHECKPOINT), "--package", str(PACKAGE), *arguments])
    said = capfd.readouterr()
    return status, [line.split(",") for line in said.out.splitlines()], said.err


def test_the_command_line_forecasts_a_table(model, tmp_path, capfd):
    series = waves(2, 48)
    series[1, 40] = np.nan
    rows = [f"2026-01-01T{i // 2:02}:{i % 2 * 30:02}:00,{a},{'' if b != b else b}" for i, (a, b) in enumerate(series.T)]
    text = "\n".join(["time,load,heat", *rows])
    status, lines, _ = forecast_file(tmp_path, capfd, text, "--horizon", "3", "--quantiles", "0.5", "0.9", "--seed", "7")
    assert status == 0
    assert lines[0] == ["time", "variate", "0.5", "0.9"]
    assert len(lines) == 7
    expected = model.forecast(series, 3, [0.5, 0.9], seed=7).quantiles
    assert lines[6][:2] == ["2026-01-02 01:00:00", "heat"]
    np.testing.assert_allclose([float(lines[6][2]), float(lines[6][3])], expected[:, 1, 2], rtol=1e-5)


def test_times_go_on():
    def ahead(*times):
        found = tuple(datetime.fromisoformat(time) for time in times)
        return Table(("a",), np.zeros((1, len(times)), np.float32), found).times_ahead(2)

    assert ahead("2026-01-01T00:00", "2026-01-01T06:00", "2026-01-01T12:00") == ["2026-01-01 18:00:00", "2026-01-02 00:00:00"]
    assert ahead("2026-10-01", "2026-11-01", "2026-12-01")[1] == "2027-02-01 00:00:00"
    assert ahead("2026-01-01", "2026-01-02", "2026-01-05") == ["3", "4"]
    assert ahead() == ["0", "1"]


def test_a_table_that_cannot_be_read_is_told(tmp_path, capfd):
    for text, says in [("a,b\n1,2\n3\n", "row 3 has 1 fields"), ("a\n", "no rows"), ("a\nx\n", "neither a number nor a time"),
                       ("t\n2026-01-01\n", "no column of numbers")]:
        status, _, said = forecast_file(tmp_path, capfd, text)
        assert status == 1 and says in said, said


def test_the_page_runs(tmp_path, monkeypatch):
    root = Path(__file__).parents[2]
    (tmp_path / "examples").symlink_to(root / "examples")
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "demo.so").symlink_to(PACKAGE)
    (tmp_path / "docs" / "pictures").mkdir(parents=True)
    environment = {**os.environ, "TOTOGRAPH_PACKAGE_PATH": str(tmp_path / "packages"),
                   "TOTOGRAPH_DEMO_MODEL": str(CHECKPOINT)}
    made = subprocess.run([sys.executable, root / "tools" / "render_python_page.py", "--folder", tmp_path, "--output",
                           tmp_path / "page.md"], env=environment, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    page, published = ((folder / name).read_text() for folder, name in ((tmp_path, "page.md"), (root, "docs/forecast_in_python.md")))
    outputs = re.compile(r"```text\n(.*?)```", re.S)
    assert outputs.sub("", page) == outputs.sub("", published)
    data, forecast, scores = outputs.findall(page)[:3]
    assert data == outputs.findall(published)[0]
    assert len(forecast.splitlines()) == 6
    # Even of 80 months it forecasts carbon dioxide better than the last year does.
    error, naive = map(float, re.findall(r"^co2_ppm, error: ([\d.]+), seasonal naive ([\d.]+)$", scores, re.M)[0])
    assert error < naive
    assert float(re.findall(r"^co2_ppm, error: ([\d.]+)", outputs.findall(published)[2], re.M)[0]) < naive
    if importlib.util.find_spec("matplotlib"):
        assert "</svg>" in (tmp_path / "docs" / "pictures" / "forecast_in_python.svg").read_text()
