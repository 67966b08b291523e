// The panel of a node, or of a selection.

import { byId, counted, make, written } from "./dom.js";
import { csv, download, json } from "./save.js";

const FIRST = 20; // graph neighbours listed at first
const MOST = 1000; // listed after a click on "Show all", at most
const MEMBERS = 200; // nodes of a selection that are listed

/** Show a node; `act` has go(row), point(row or -1) and close(). */
export function showNode(nodes, row, act) {
  const missing = nodes.likely(row);
  const sections = [
    section(
      "Nearest neighbours",
      "near",
      "by cosine similarity of the vectors",
      scored(nodes, nodes.similar(row), (cosine) => cosine, 3, act),
    ),
    missing &&
      section(
        "Likely missing links",
        "missing",
        nodes.link_note,
        scored(nodes, missing, nodes.link_odds ? likelihood : (percent) => percent / 100, 2, act),
      ),
    ...nodes.neighbours(row).map((list) => graphSection(nodes, list, act)),
  ];
  open(
    make(
      "header",
      {},
      make("h2", { class: "id", tabindex: "-1" }, nodes.ids[row]),
      closeButton(act),
      facts(nodes, row),
    ),
    ...sections.filter(Boolean),
  );
}

function likelihood(odds) {
  return 1 / (1 + Math.exp(-odds));
}

function facts(nodes, row) {
  const list = make("dl", { class: "facts" });
  const add = (name, ...value) =>
    list.append(make("div", {}, make("dt", {}, name), make("dd", {}, ...value)));
  if (nodes.label) {
    add(nodes.labelsOf(row).length > 1 ? "Labels" : "Label", nodes.labelText(row) || "none");
  }
  add("Community", nodes.communityText(row) || "none");
  if (nodes.in_degree) {
    add("Out-degree", written(nodes.degree[row] - nodes.in_degree[row]));
    add("In-degree", written(nodes.in_degree[row]));
  } else if (nodes.degree) add("Degree", written(nodes.degree[row]));
  return list;
}

function section(title, kind, note, content) {
  return make(
    "section",
    { class: kind },
    make("h3", {}, make("span", { class: "line" }), title),
    make("p", { class: "muted" }, note),
    content,
  );
}

/** Rows with their values, and bars of the length that `share` returns for them. */
function scored(nodes, found, share, digits, act) {
  if (!found.length) return make("p", { class: "muted" }, "None.");
  return make(
    "ul",
    { class: "rows" },
    ...found.map(({ row, value }) =>
      entry(
        nodes,
        row,
        act,
        make(
          "span",
          { class: "bar" },
          make("span", { style: { width: `${Math.max(0, share(value)) * 100}%` } }),
        ),
        make("span", { class: "number" }, value.toFixed(digits)),
      ),
    ),
  );
}

function entry(nodes, row, act, ...more) {
  const button = make(
    "button",
    {
      type: "button",
      onclick: () => act.go(row),
      onmouseenter: () => act.point(row),
      onmouseleave: () => act.point(-1),
      onfocus: () => act.point(row),
      onblur: () => act.point(-1),
    },
    make("span", { class: "dot", style: { background: act.colourOf(row) } }),
    make("span", { class: "id", title: nodes.ids[row] }, nodes.ids[row]),
    ...more,
  );
  return make("li", {}, button);
}

function graphSection(nodes, { title, found, total }, act) {
  const list = make("ul", { class: "rows plain" });
  const fill = (rows) => {
    for (const { row, weight } of rows) {
      const number = weight === null ? null : Number(weight.toPrecision(4)).toLocaleString("en");
      list.append(entry(nodes, row, act, number && make("span", { class: "number" }, number)));
    }
  };
  fill(found.slice(0, FIRST));
  const whole = make("div", {}, list);
  if (found.length > FIRST) {
    const left = found.length - MOST;
    const more = make("button", { type: "button", class: "more" });
    more.textContent = `Show ${left > 0 ? `${written(MOST)} of` : "all"} ${written(found.length)}`;
    more.addEventListener("click", () => {
      fill(found.slice(FIRST, MOST));
      more.replaceWith(left > 0 ? make("p", { class: "muted" }, `And ${written(left)} more.`) : "");
    });
    whole.append(more);
  }
  if (total > found.length) {
    const left = total - found.length;
    const which = found.length
      ? "more that are not stored in this page"
      : "that are not stored in this page";
    whole.append(make("p", { class: "muted" }, `And ${written(left)} ${which}.`));
  }
  if (!total) whole.append(make("p", { class: "muted" }, "None."));
  const weighted = found.length && found[0].weight !== null;
  const note = counted(total, "edge") + (weighted ? ", the heaviest first" : "");
  return section(title, "graph", note, whole);
}

/** Show a selection of many nodes. */
export function showSelection(nodes, rows, way, colours, act) {
  const name = `${nodes.file_name}-selection`;
  const copy = make("button", { type: "button" }, "Copy ids");
  copy.addEventListener("click", async () => {
    const text = rows.map((row) => nodes.ids[row]).join("\n");
    copy.textContent = (await copied(text)) ? "Copied" : "Could not copy";
    setTimeout(() => (copy.textContent = "Copy ids"), 1500);
  });
  const actions = make(
    "div",
    { class: "actions" },
    make(
      "button",
      {
        type: "button",
        class: "strong",
        onclick: () => download(`${name}.csv`, "text/csv", csv(nodes, rows)),
      },
      "Save as CSV",
    ),
    make(
      "button",
      {
        type: "button",
        onclick: () => download(`${name}.json`, "application/json", json(nodes, rows)),
      },
      "Save as JSON",
    ),
    copy,
  );
  const list = make("ul", { class: "rows plain" });
  list.append(...rows.slice(0, MEMBERS).map((row) => entry(nodes, row, act)));
  const left = rows.length - MEMBERS;
  open(
    make(
      "header",
      {},
      make("h2", { tabindex: "-1" }, `${counted(rows.length, "node")} selected`),
      closeButton(act),
      actions,
    ),
    way.rank ? make("section", {}, make("h3", {}, way.title), shares(way, colours, rows)) : "",
    make(
      "section",
      {},
      make("h3", {}, "Nodes"),
      list,
      left > 0
        ? make("p", { class: "muted" }, `And ${written(left)} more, which are saved too.`)
        : "",
    ),
  );
}

/** How many of the rows each group has. */
function shares(way, colours, rows) {
  const counts = new Map();
  for (const row of rows) counts.set(way.rank[row], (counts.get(way.rank[row]) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8);
  const items = ranked.map(([rank, count]) => {
    const colour = colours[rank];
    const width = `${(count / ranked[0][1]) * 100}%`;
    return make(
      "li",
      { class: "share" },
      make("span", { class: "dot", style: { background: colour } }),
      make("span", { class: "id" }, way.groups[rank].name),
      make("span", { class: "bar" }, make("span", { style: { width, background: colour } })),
      make("span", { class: "number" }, written(count)),
    );
  });
  return make("ul", { class: "rows plain" }, ...items);
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
  make(
    "button",
    {
      type: "button",
      class: "close",
      "aria-label": "Close",
      title: "Close (Esc)",
      onclick: act.close,
    },
    "×",
  );

function open(...children) {
  const panel = byId("panel");
  panel.replaceChildren(...children);
  panel.hidden = false;
  panel.scrollTop = 0;
}

/** Close the panel. */
export const closePanel = () => {
  byId("panel").hidden = true;
};
