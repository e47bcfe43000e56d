// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>

// What the page of `explain_html` is made of: its style, its elements, and the classes of kernels.
namespace totograph::serve::detail {

/// An element with escaped text.
inline std::string html_element(std::string_view name, std::string_view text, std::string_view style_class = {}) {
    return "<" + std::string(name) + (style_class.empty() ? "" : " class=\"" + std::string(style_class) + "\"") + ">" +
           totograph::detail::escape_markup(text) + "</" + std::string(name) + ">";
}

/// The class of a kernel in the page's style, which is also its word in the legend.
inline std::string_view html_class(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::gemm: return "gemm";
        case KernelKind::reduction: return "reduction";
        case KernelKind::pointwise: return "elementwise";
        case KernelKind::structural: break;
    }
    switch (op_row(kernel.op).kind) {
        case OpClass::attention: return "attention";
        case OpClass::random: return "draws";
        default: return "other";
    }
}

/// Rows of the tables of steps are as high as this, in pixels: the arrows beside them are drawn to that.
inline constexpr int html_row_height = 28;

/// Colours for light and for dark, chosen by what the reader's system asks for. The letters in the chips tell kinds
/// apart without colours.
inline constexpr std::string_view html_style = R"(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --stripe: #f6f8fa;
  --arrow: #6e7781; --bar: #0969da; --floor: #bf5700; --gemm: #cfe2f3; --attention: #fbd9b5; --reduction: #d5ead0;
  --elementwise: #fff1b3; --draws: #ecd5ea; --other: #e4e7ea; }
@media (prefers-color-scheme: dark) { :root { --page: #0d1117; --ink: #e6edf3; --soft: #9aa4af; --line: #30363d;
  --stripe: #161b22; --arrow: #8b949e; --bar: #4493f8; --floor: #f0883e; --gemm: #1f4468; --attention: #6b3f14;
  --reduction: #26512a; --elementwise: #5a4a10; --draws: #57304f; --other: #373e47; } }
body { margin: 0 auto; padding: 16px 24px 48px; max-width: 1500px; background: var(--page); color: var(--ink);
  font: 14px/1.5 system-ui, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 22px; margin: 8px 0 0; } h2 { font-size: 18px; margin: 36px 0 4px; } h3 { font-size: 15px; }
p { margin: 4px 0 12px; max-width: 100ch; color: var(--soft); }
dl.facts { display: flex; flex-wrap: wrap; gap: 10px; margin: 16px 0; }
dl.facts div { border: 1px solid var(--line); border-radius: 8px; padding: 8px 14px; background: var(--stripe); }
dl.facts dt { color: var(--soft); font-size: 12px; } dl.facts dd { margin: 0; font-size: 17px; font-weight: 600; }
.scroll { overflow-x: auto; } .steps { position: relative; display: inline-block; min-width: 100%; }
table { border-collapse: separate; border-spacing: 0; white-space: nowrap; font-variant-numeric: tabular-nums; }
.steps table { margin-left: 92px; }
th, td { padding: 0 8px; height: 28px; line-height: 28px; text-align: left; font-size: 13px; }
th { color: var(--soft); font-weight: 500; font-size: 12px; } tbody tr:nth-child(even) td { background: var(--stripe); }
tr.layer td { background: var(--line) !important; font-weight: 600; }
td.number, th.number { text-align: right; } td.words { max-width: 460px; overflow: hidden; text-overflow: ellipsis; }
td.names { max-width: 300px; overflow: hidden; text-overflow: ellipsis; color: var(--soft); }
.chip { display: inline-block; width: 18px; height: 18px; line-height: 18px; border-radius: 4px; text-align: center;
  font-size: 11px; font-weight: 700; margin-right: 8px; color: var(--ink); }
.gemm { background: var(--gemm); } .attention { background: var(--attention); }
.reduction { background: var(--reduction); } .elementwise { background: var(--elementwise); }
.draws { background: var(--draws); } .other { background: var(--other); }
.bar { display: inline-block; height: 10px; background: var(--bar); border-radius: 2px; }
svg.arrows { position: absolute; left: 0; top: 0; } svg.arrows path { fill: none; stroke: var(--arrow); stroke-width: 1.2; }
svg.arrows path.position { stroke-dasharray: 2 3; } svg.arrows path.back { stroke-dasharray: 6 3; }
svg.arrows circle { fill: var(--arrow); } .legend span { margin-right: 18px; white-space: nowrap; }
@media print { .scroll { overflow: visible; } }
)";

}  // namespace totograph::serve::detail
