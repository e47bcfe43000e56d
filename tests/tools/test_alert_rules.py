#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The alert rules of docs/production.md: Prometheus accepts them, and they name metrics that a service writes."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WRITERS = [ROOT / "include/totograph/serve/metrics/snapshot_prometheus.hpp",
           ROOT / "include/totograph/serve/metrics/impl/snapshot_prometheus.hpp"]


def rules():
    """The guide's only block of YAML."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs/production.md").read_text(encoding="utf-8"), re.S | re.M)
    if len(blocks) != 1:
        raise ValueError(f"docs/production.md has {len(blocks)} blocks of YAML; expected one, the alert rules.")
    return blocks[0]


class AlertRules(unittest.TestCase):
    def test_name_metrics_that_are_written(self):
        source = "".join(path.read_text(encoding="utf-8") for path in WRITERS)
        families = set(re.findall(r'(?:write|begin)\(\s*"([a-z_]+)"', source))
        named = set(re.findall(r"\btotograph_([a-z_]+)", rules()))
        self.assertTrue(named)
        for name in sorted(named):
            with self.subTest(metric=name):
                self.assertIn(name.removesuffix("_bucket"), families)

    @unittest.skipUnless(shutil.which("promtool"), "there is no promtool on the path (Debian's prometheus has it)")
    def test_are_accepted_by_promtool(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rules.yml"
            file.write_text(rules(), encoding="utf-8")
            checked = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    unittest.main()
