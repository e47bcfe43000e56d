#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page of `forecast --explain-html` in a browser, in light and in dark: rows are as high as the arrows beside them
# expect, and text stands out from what is behind it. Skipped (77) where there is no chromium.
#
#     page.sh <forecast> <scratch folder>
set -euo pipefail
source "$(dirname "$0")/cli.sh" "$@"
awk 'BEGIN { print "time,wave"; for (row = 0; row < 300; ++row) printf "%d,%.4f\n", 60 * row, 10 + 3 * sin(row / 4) }' > series.csv
"$program" series.csv --targets wave --horizon 20 --threads 1 --explain-html page.html --quiet > printed
[[ ! -s printed ]] || fail "a page alone prints nothing"
grep -q 'a forecast took' page.html || fail "the page has measured times"
grep -q 'told once, run [0-9]* times' page.html || fail "equal layers are told once"
! grep -qi bucket page.html || fail "a person never reads that word"
! grep -q 'http' page.html || fail "the page loads nothing"

browser="$(command -v chromium || command -v chromium-browser || true)"
[[ -n "$browser" ]] || { echo "Skipped in a browser: there is no chromium."; exit 77; }
cat page.html - > judged.html <<'SCRIPT'
<script>
const wrong = [];
const steps = document.querySelector(".steps"), rows = steps.querySelectorAll("tr");
for (const row of rows) if (Math.abs(row.getBoundingClientRect().height - 28) > 0.1) wrong.push("a row is not 28 high");
const lines = steps.querySelector("svg").getBoundingClientRect(), table = steps.querySelector("table").getBoundingClientRect();
if (Math.abs(lines.height - table.height) > 1) wrong.push("arrows and rows differ in height");
if (lines.right > table.left + 1) wrong.push("arrows lie over the table");
if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page is wider than the window");
const light = colour => { const [r, g, b] = colour.match(/[\d.]+/g).map(v => { v /= 255;
  return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const page = getComputedStyle(document.body).backgroundColor;
for (const item of document.querySelectorAll("h1, h2, h3, p, th, td, dt, dd, .chip")) {
  let behind = item;  // whatever is painted first, from here outwards
  while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement;
  const a = light(getComputedStyle(item).color), b = light(behind ? getComputedStyle(behind).backgroundColor : page);
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (contrast < 4.5) wrong.push(`${item.tagName} ${item.className} has a contrast of ${contrast.toFixed(1)}`);
}
document.title = `${light(page) > 0.5 ? "light" : "dark"}: ${[...new Set(wrong)].join("; ") || "legible"}`;
</script>
SCRIPT
for theme in dark light; do
    number=$([[ "$theme" == dark ]] && echo 0 || echo 1)
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --window-size=1400,1000 \
        --blink-settings=preferredColorScheme="$number" --dump-dom "file://$PWD/judged.html" > dom.html 2> browser.log ||
        fail "the browser failed: $(tail -n 3 browser.log)"
    grep -o '<title>[^<]*</title>' dom.html | grep -q "<title>$theme: legible</title>" ||
        fail "in $theme: $(grep -o '<title>[^<]*</title>' dom.html)"
done
echo "The page is legible."
