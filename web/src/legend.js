// The legend; a click on a group highlights it.

import { byId, make, written } from "./dom.js";

/** Show the legend of a colouring; `toggle` is called with the rank of the clicked group. */
export function showLegend(way, colours, lit, toggle) {
  const content = way.rank ? groups(way, colours, lit, toggle) : scale(way, colours);
  byId("legend").replaceChildren(make("h2", {}, way.summary), content);
}

function groups(way, colours, lit, toggle) {
  const entries = way.groups.map((group, rank) => {
    const button = make(
      "button",
      {
        type: "button",
        class: lit && !lit.has(rank) ? "entry faded" : "entry",
        "aria-pressed": String(Boolean(lit?.has(rank))),
        title: "Highlight this group; with Ctrl or Shift several",
        onclick: (event) => toggle(rank, event.ctrlKey || event.metaKey || event.shiftKey),
      },
      make("span", { class: "dot", style: { background: colours[rank] } }),
      make("span", { class: "name" }, group.name),
      make("span", { class: "muted number" }, written(group.size)),
    );
    return make("li", {}, button);
  });
  return make("ul", { class: "entries" }, ...entries);
}

function scale(way, colours) {
  const middle = Math.round(Math.expm1(Math.log1p(way.most) / 2));
  return make(
    "div",
    { class: "scale" },
    make("div", {
      class: "ramp",
      style: { background: `linear-gradient(to right, ${colours.join(", ")})` },
    }),
    make(
      "div",
      { class: "ticks muted" },
      ...[0, middle, way.most].map((degree) => make("span", {}, written(degree))),
    ),
  );
}
