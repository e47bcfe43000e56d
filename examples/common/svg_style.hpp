// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace examples::detail {

/// The style sheet inside every SVG file. Blue and orange stay apart for colour-blind eyes; plain rules come first, for
/// viewers that know no media queries.
inline constexpr const char* svg_style =
    R"(text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "Liberation Sans", Arial, sans-serif; fill: #1e293b; }
.page { fill: #ffffff; }
.title { font-size: 21px; font-weight: 600; }
.subtitle { font-size: 13px; fill: #64748b; }
.small { font-size: 12px; fill: #475569; }
.name { font-size: 13.5px; font-weight: 600; }
.note { font-size: 11.5px; fill: #64748b; text-anchor: end; }
.tick { font-size: 11px; fill: #64748b; font-variant-numeric: tabular-nums; }
.value { text-anchor: end; }
.time { text-anchor: middle; }
.grid { stroke: #e2e8f0; stroke-width: 1; }
.axis { stroke: #94a3b8; stroke-width: 1; }
.start { stroke: #64748b; stroke-width: 1; stroke-dasharray: 3 3; }
.future { fill: #f8fafc; }
.history, .forecast, .truth, .baseline { fill: none; stroke-linecap: round; stroke-linejoin: round; }
.history { stroke: #475569; stroke-width: 1.3; }
.truth { stroke: #ea580c; stroke-width: 1.3; }
.forecast { stroke: #1d4ed8; stroke-width: 2; }
.baseline { stroke: #7c3aed; stroke-width: 1.3; stroke-dasharray: 1 4; }
.outer { fill: #3b82f6; fill-opacity: 0.18; }
.inner { fill: #3b82f6; fill-opacity: 0.30; }
.key-outer { fill: #3b82f6; fill-opacity: 0.18; }
.key-inner { fill: #3b82f6; fill-opacity: 0.43; }
@media (prefers-color-scheme: dark) {
text { fill: #e2e8f0; }
.page { fill: #0f172a; }
.subtitle, .note, .tick { fill: #94a3b8; }
.small { fill: #cbd5e1; }
.grid { stroke: #1e293b; }
.axis { stroke: #475569; }
.start { stroke: #94a3b8; }
.future { fill: #131f38; }
.history { stroke: #cbd5e1; }
.truth { stroke: #fb923c; }
.forecast { stroke: #93c5fd; }
.baseline { stroke: #c4b5fd; }
.outer, .key-outer { fill: #60a5fa; fill-opacity: 0.32; }
.inner { fill: #60a5fa; fill-opacity: 0.42; }
.key-inner { fill: #60a5fa; fill-opacity: 0.61; }
}
)";

}  // namespace examples::detail
