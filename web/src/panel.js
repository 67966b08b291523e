// The panel of a node, or of a selection.

import { byId, counted, make, written } from "./dom.js";
import { nameOf } from "./groups.js";
import { csv, download, json } from "./save.js";

const FIRST = 20; // graph neighbours listed at first
const MOST = 1000; // listed after a click on "Show all", at most
const MEMBERS = 200; // nodes of a selection that are listed

/**
 * Show a node and what is known of it: {similar, likely, neighbours}, null while it is fetched, or if
 * there was some trouble.
 * `act` has go(row), point(row or -1), swatchOf(row), passes(row), clearFilters() and close().
 */
export function showNode(nodes, row, details, act, trouble = "") {
  open(
    make(
      "header",
      make("h2.id", { tabindex: "-1" }, nodes.ids[row]),
      closeButton(act),
      !act.passes(row) &&
        make(
          "p.muted.filtered",
          "This node does not pass the filters. ",
          make("button", { onclick: act.clearFilters }, "Clear filters"),
        ),
      facts(nodes, row),
    ),
    ...(details
      ? sections(nodes, details, act)
      : [make("p.muted.waiting", trouble || "Looking up its neighbours …")]),
  );
}

function sections(nodes, { similar, likely, neighbours }, act) {
  const found = [
    section(
      "Nearest neighbours",
      "near",
      "by cosine similarity of the vectors",
      scored(nodes, similar, 3, act),
    ),
    likely && section("Likely missing links", "missing", nodes.link_note, scored(nodes, likely, 2, act)),
    ...neighbours.map((list) => graphSection(nodes, list, act)),
  ];
  return found.filter(Boolean);
}

/** All columns of a node. */
function facts(nodes, row) {
  const list = make("dl.facts");
  for (const column of nodes.columns) {
    const text = column.numbered ? numbered(nodes, column, row) : column.text(row);
    const several = column.kind === "category" && column.codesOf(row).length > 1;
    const name = several && column.name === "label" ? "Labels" : column.title;
    list.append(
      make(
        "div",
        { class: column.kind === "text" ? "long" : null },
        make("dt", name),
        make("dd", { class: text ? null : "muted" }, text || "none"),
      ),
    );
  }
  return list;
}

/** The number of a community, and what is typical of it. */
function numbered(nodes, column, row) {
  const code = column.codes[row];
  return code < 0 ? "" : nameOf(nodes, column, code);
}

function section(title, kind, note, content) {
  return make(
    "section",
    { class: kind },
    make("h3", make("span.line"), title),
    make("p.muted", note),
    content,
  );
}

const SHORTEST = 0.08; // bar of a list

/** Rows with their values, and bars from the least value of the list to the greatest. */
function scored(nodes, found, digits, act) {
  if (!found.length) return make("p.muted", "None.");
  const values = found.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const share = (value) =>
    most > least ? SHORTEST + ((1 - SHORTEST) * (value - least)) / (most - least) : 1;
  return make(
    "ul.rows",
    ...found.map(({ row, value, edge }) =>
      entry(
        nodes,
        row,
        act,
        edge && make("span.tag", { title: "There is an edge between the two" }, "edge"),
        make("span.bar", make("span", { style: { width: `${(share(value) * 100).toFixed(1)}%` } })),
        make("span.number", value.toFixed(digits).replace("-", "−")),
      ),
    ),
  );
}

function entry(nodes, row, act, ...more) {
  const button = make(
    "button",
    {
      class: act.passes(row) ? null : "filtered",
      onclick: () => act.go(row),
      onmouseenter: () => act.point(row),
      onmouseleave: () => act.point(-1),
      onfocus: () => act.point(row),
      onblur: () => act.point(-1),
    },
    act.swatchOf(row),
    make("span.id", { title: nodes.ids[row] }, nodes.ids[row]),
    ...more,
  );
  return make("li", button);
}

function graphSection(nodes, { title, found, total }, act) {
  const list = make("ul.rows.plain");
  const fill = (rows) => {
    for (const { row, weight } of rows) {
      const number = weight === null ? null : Number(weight.toPrecision(4)).toLocaleString("en");
      list.append(entry(nodes, row, act, number && make("span.number", number)));
    }
  };
  fill(found.slice(0, FIRST));
  const whole = make("div", list);
  if (found.length > FIRST) {
    const left = found.length - MOST;
    const more = make("button.more");
    more.textContent = `Show ${left > 0 ? `${written(MOST)} of` : "all"} ${written(found.length)}`;
    more.addEventListener("click", () => {
      fill(found.slice(FIRST, MOST));
      more.replaceWith(left > 0 ? make("p.muted", `And ${written(left)} more.`) : "");
    });
    whole.append(more);
  }
  if (total > found.length) {
    const left = total - found.length;
    const which = found.length ? "more that are not stored in this page" : "that are not stored in this page";
    whole.append(make("p.muted", `And ${written(left)} ${which}.`));
  }
  if (!total) whole.append(make("p.muted", "None."));
  const weighted = found.length && found[0].weight !== null;
  const note = counted(total, "edge") + (weighted ? ", the heaviest first" : "");
  return section(title, "graph", note, whole);
}

/** Show a selection of many nodes; their groups, if the colouring `way` has groups. */
export function showSelection(nodes, rows, way, act) {
  const name = `${nodes.file_name}-selection`;
  const copy = make("button", "Copy ids");
  copy.addEventListener("click", async () => {
    const text = rows.map((row) => nodes.ids[row]).join("\n");
    copy.textContent = (await copied(text)) ? "Copied" : "Could not copy";
    setTimeout(() => (copy.textContent = "Copy ids"), 1500);
  });
  const actions = make(
    "div.actions",
    make(
      "button.strong",
      { onclick: () => download(`${name}.csv`, "text/csv", csv(nodes, rows)) },
      "Save as CSV",
    ),
    make(
      "button",
      { onclick: () => download(`${name}.json`, "application/json", json(nodes, rows)) },
      "Save as JSON",
    ),
    copy,
  );
  const list = make("ul.rows.plain");
  list.append(...rows.slice(0, MEMBERS).map((row) => entry(nodes, row, act)));
  const left = rows.length - MEMBERS;
  open(
    make(
      "header",
      make("h2", { tabindex: "-1" }, `${counted(rows.length, "node")} selected`),
      closeButton(act),
      actions,
    ),
    way.groups ? make("section", make("h3", way.title), shares(way, rows, act)) : "",
    make(
      "section",
      make("h3", "Nodes"),
      list,
      left > 0 ? make("p.muted", `And ${written(left)} more, which are saved too.`) : "",
    ),
  );
}

/** How many of the rows each group has. */
function shares(way, rows, act) {
  const counts = new Map();
  const first = new Map(); // a row of each group
  for (const row of rows) {
    const rank = way.codes[row];
    counts.set(rank, (counts.get(rank) ?? 0) + 1);
    if (!first.has(rank)) first.set(rank, row);
  }
  const ranked = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8);
  const items = ranked.map(([rank, count]) => {
    const width = `${(count / ranked[0][1]) * 100}%`;
    return make(
      "li.share",
      act.swatchOf(first.get(rank)),
      make("span.id", way.groups[rank].name),
      make("span.bar", make("span", { style: { width } })),
      make("span.number", written(count)),
    );
  });
  return make("ul.rows.plain", ...items);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

const closeButton = (act) =>
  make("button.close", { "aria-label": "Close", title: "Close (Esc)", onclick: act.close }, "×");

function open(...children) {
  const panel = byId("panel");
  panel.replaceChildren(...children.filter(Boolean));
  panel.hidden = false;
  panel.scrollTop = 0;
}
