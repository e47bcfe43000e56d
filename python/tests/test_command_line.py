# SPDX-License-Identifier: Apache-2.0
"""The command line with tables in files, and the page that is made by Python."""
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from support import CHECKPOINT, PACKAGE, waves

from totograph.__main__ import _number
from totograph.__main__ import main as command_line


def forecast_file(tmp_path, capfd, text, *arguments):
    file = tmp_path / "data.csv"
    file.write_text(text, encoding="utf-8")
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


def test_the_command_line_keeps_small_steps_at_a_high_level(tmp_path, capfd):
    def forecast(level):
        text = "\n".join(["load", *(repr(level + value) for value in waves(48).astype(np.float64).tolist())])
        status, lines, _ = forecast_file(tmp_path, capfd, text, "--horizon", "4")
        assert status == 0
        return np.array([[float(cell) for cell in line[2:]] for line in lines[1:]])

    # Float32 has no digits for this above 1e9: there, 1e9 + 1 is 1e9.
    low = forecast(0.0)
    np.testing.assert_allclose(forecast(8e9) - 8e9, low, atol=1e-4)
    np.testing.assert_allclose(forecast(1234567.0) - 1234567, low, atol=1e-4)


def test_numbers_have_no_more_digits_than_float32(tmp_path):
    written = [_number(np.float64(np.float32(value)), 0.0) for value in (0.1, 24.33, 368.79, 3.0)]
    assert written == ["0.1", "24.33", "368.79", "3"]
    assert _number(100000 + np.float64(np.float32(0.1)), 100000.0) == "100000.1"
    assert _number(8e9 + 1.25, 8e9) == "8000000001.25"


def test_the_command_line_forecasts_a_file_that_has_its_newest_row_first(tmp_path, capfd):
    rows = [f"2026-01-{1 + i // 24:02}T{i % 24:02}:00:00,{value}" for i, value in enumerate(waves(48)) if i != 40]
    status, expected, said = forecast_file(tmp_path, capfd, "\n".join(["time,load", *rows]), "--horizon", "2")
    assert status == 0 and said.count("\n") == 1 and "'2026-01-02T15:00:00': it becomes a gap." in said
    assert [line[0] for line in expected[1:]] == ["2026-01-03 00:00:00", "2026-01-03 01:00:00"]
    status, lines, said = forecast_file(tmp_path, capfd, "\n".join(["time,load", *rows[::-1], rows[0]]), "--horizon", "2")
    assert status == 0 and lines == expected
    notes = said.splitlines()
    assert len(notes) == 3 and all(note.startswith("totograph: The file '") for note in notes)
    assert "newest row first" in notes[0] and "with the time and the values" in notes[1] and "becomes a gap" in notes[2]


def test_times_that_cannot_be_told_end_in_a_sentence(tmp_path, capfd):
    rows = [f"9999-12-{day},{day}" for day in range(10, 32)]
    output = tmp_path / "made.csv"
    status, _, said = forecast_file(tmp_path, capfd, "\n".join(["time,load", *rows]), "--horizon", "3", "-o", str(output))
    assert status == 1 and said.startswith("totograph: The time of step 1 of 3 after 9999-12-31") and said.count("\n") == 1
    assert "beyond the year 9999" in said and not output.exists()


def test_a_table_that_cannot_be_read_is_told(tmp_path, capfd):
    for text, says in [("a,b\n1,2\n3\n", "row 3 has 1 fields"),
                       ("a;b\n1,5;2\n3;4\n", "has ';' between its fields, as in 'a;b'. Expected commas"),
                       ("a\tb\n1\t2\n", "has tabs between its fields"),
                       ("a\n1_000\n", "'1_000' in column 'a', row 2, is neither"),
                       ("a\n", "no rows"), ("a\nx\n", "neither a number nor a time"),
                       ("t\n2026-01-01\n", "no column of numbers"),
                       ("t,a\n2026-01-01,1\n5,2\n", "column 't' has a number, '5' in row 3, and a time, '2026-01-01' in row 2"),
                       ("a\n-1e300\n", "'-1e300' in column 'a', row 2, is beyond the range of a float"),
                       ("t,u,a\n2026-01-01,2026-01-01,1\n", "column 'u' has times, and an earlier one"),
                       ("t,a\n2026-01-01,1\n2026-01-01,2\n", "rows 2 and 3 have the same time, '2026-01-01'")]:
        status, _, said = forecast_file(tmp_path, capfd, text)
        assert status == 1 and says in said, said


def test_what_the_command_line_cannot_do_ends_in_a_sentence(tmp_path, capfd):
    for arguments, says in [(["--threads", "99999999999"], "The number of threads (--threads) cannot be 99999999999; expected 0"),
                            (["--threads", "-1"], "cannot be -1"), (["--horizon", "9" * 30], "The horizon ("),
                            (["--horizon", "-1"], "The horizon cannot be -1"), (["--seed", "-1"], "seed from 0"),
                            (["--quantiles", "2"], "between 0 and 1"),
                            (["-o", str(tmp_path)], f"The file '{tmp_path}' cannot be opened: Is a directory.")]:
        status, lines, said = forecast_file(tmp_path, capfd, "time,a\n2026-01-01,1\n2026-01-02,2\n", *arguments)
        assert status == 1 and not lines and said.count("\n") == 1
        assert said.startswith("totograph: ") and says in said, said
    assert command_line(["forecast", str(tmp_path / "none.csv")]) == 1
    assert capfd.readouterr().err == (
        f"totograph: The file '{tmp_path / 'none.csv'}' cannot be opened: No such file or directory.\n")


def test_the_output_is_no_input_and_has_the_encoding_of_tables(tmp_path, capfd):
    text = "w\u00e4rme\n1\n2\n"
    file = tmp_path / "data.csv"
    (tmp_path / "link.csv").symlink_to(file)
    for output in (file, tmp_path / "link.csv"):
        status, _, said = forecast_file(tmp_path, capfd, text, "-o", str(output))
        assert status == 1 and f"cannot be '{output}', for that is the file to forecast." in said
        assert file.read_text(encoding="utf-8") == text
    output = tmp_path / "made.csv"
    command = [sys.executable, "-m", "totograph", "forecast", file, "--checkpoint", CHECKPOINT, "--package", PACKAGE,
               "--horizon", "1"]
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert subprocess.run([*command, "-o", output], env=plain).returncode == 0
    assert "2,w\u00e4rme," in output.read_text(encoding="utf-8")
    assert subprocess.run(command, env=plain, capture_output=True).stdout == output.read_bytes()
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            made = subprocess.run(command, env=plain, stdout=full, stderr=subprocess.PIPE, text=True)
        assert (made.returncode, made.stderr) == (1, "totograph: The output cannot be written: No space left on device.\n")


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
