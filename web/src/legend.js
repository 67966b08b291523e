// The legend; a click on a group highlights it.

import { byId, draw, make, written } from "./dom.js";
import { scaleOf } from "./scales.js";

/**
 * Show the legend of a colouring. `counts` has the nodes of each look that pass the filters;
 * `toggle` is called with the rank of the clicked group.
 */
export function showLegend(way, looks, lit, counts, swatch, toggle) {
  const content = way.groups
    ? groups(way, looks, lit, counts, swatch, toggle)
    : ramp(way.scale, looks, counts, swatch);
  const held = byId("key").contains(document.activeElement)
    ? [...byId("key").querySelectorAll("button")].indexOf(document.activeElement)
    : -1;
  byId("legend-title").textContent = way.summary;
  byId("key").replaceChildren(content);
  if (held >= 0) byId("key").querySelectorAll("button")[held]?.focus();
}

/** Show which values the smallest and the largest points have; `column` may be null. */
export function showSizes(column) {
  const key = byId("size-key");
  key.hidden = !column || column.low === column.high;
  if (key.hidden) return;
  const { low, high, text } = scaleOf(column);
  const point = (radius) =>
    draw(
      "svg",
      { viewBox: "-7 -7 14 14", "aria-hidden": "true" },
      draw("circle", { r: radius, fill: "currentColor" }),
    );
  const end = (radius, value) => make("span", point(radius), text(value));
  key.replaceChildren(end(2.3, low), end(7, high));
}

function groups(way, looks, lit, counts, swatch, toggle) {
  const entries = way.groups.map((group, rank) => {
    const dim = (lit && !lit.has(rank)) || !counts[rank];
    const button = make(
      "button",
      {
        class: dim ? "entry faded" : "entry",
        "aria-pressed": String(Boolean(lit?.has(rank))),
        title: group.name,
        onclick: (event) => toggle(rank, event.ctrlKey || event.metaKey || event.shiftKey),
      },
      swatch(looks[rank]),
      make("span.name", group.name),
      make("span.muted.number", written(counts[rank])),
    );
    return make("li", button);
  });
  return make("ul.entries", ...entries);
}

/** The colours of a scale with its ticks, and the colour of nodes without a value. */
function ramp({ ticks }, looks, counts, swatch) {
  const colours = looks.slice(0, -1).map(({ colour }) => colour);
  const without = counts.at(-1);
  return make(
    "div.scale",
    make("div.ramp", { style: { background: `linear-gradient(to right, ${colours.join(", ")})` } }),
    make(
      "div.ticks.muted",
      ...ticks.map(({ share, text }) =>
        make("span", { style: { left: percent(share), transform: `translateX(-${percent(share)})` } }, text),
      ),
    ),
    without > 0 &&
      make(
        "p.without",
        swatch(looks.at(-1)),
        make("span.name", "No value"),
        make("span.muted.number", written(without)),
      ),
  );
}

const percent = (share) => `${(share * 100).toFixed(1)}%`;
