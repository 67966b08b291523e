// The page: its state (selection, colours), and the parts that show it.

import { SHADES, groupColours, shades } from "./colours.js";
import { readData } from "./data.js";
import { byId, counted, make, written } from "./dom.js";
import { colourings } from "./groups.js";
import { showLegend } from "./legend.js";
import { NodeMap, canDraw } from "./map.js";
import { Overlay } from "./overlay.js";
import { closePanel, showNode, showSelection } from "./panel.js";
import { setUpSearch } from "./search.js";

/** Everything on the page, once its data is read. */
class Explorer {
  constructor(nodes) {
    this.nodes = nodes;
    this.ways = colourings(nodes);
    this.way = [...this.ways.values()][0];
    this.colours = []; // of the groups by rank, or from low to high degree
    this.lit = null; // ranks of the highlighted groups, or null for all
    this.chosen = []; // rows: one is shown with its neighbours, many as a selection
    this.map = new NodeMap(byId("points"), nodes, {
      hover: (row) => this.hover(row),
      select: (rows) => this.pick(rows),
      view: () => this.follow(),
    });
    this.map.free = () => this.freeMargins();
    const panels = ["bar", "legend", "panel"].map(byId);
    this.overlay = new Overlay(byId("overlay"), byId("names"), panels, this.map);
    this.search = setUpSearch(
      nodes,
      (row) => this.group(row),
      (row) => this.find(row),
    );
    this.hovered = -1;
  }

  async start() {
    this.writeFacts();
    this.setUpControls();
    await this.recolour();
    await this.map.reset(false);
    this.openHash();
  }

  // -- text around the map ---------------------------------------------------------------------

  writeFacts() {
    const { nodes } = this;
    const total = counted(nodes.total, "node");
    const parts = [nodes.count === nodes.total ? total : `${written(nodes.count)} of ${total}`];
    if (nodes.edges !== null) parts.push(counted(nodes.edges, "edge"));
    parts.push(counted(nodes.dimensions, "dimension"), nodes.method);
    byId("facts").textContent = parts.filter(Boolean).join(" · ");
    byId("notes").textContent = nodes.notes.join(" ");
    byId("notes").hidden = !nodes.notes.length;
    byId("made").textContent = `Made by reinforce2vec ${nodes.version}.`;
  }

  /** The label of a row, or else its community. */
  group(row) {
    const { nodes } = this;
    if (nodes.label) return nodes.labelText(row);
    return nodes.community[row] < 0 ? "" : `community ${nodes.communityText(row)}`;
  }

  describe(row) {
    const { degree } = this.nodes;
    const parts = [this.group(row), degree && `degree ${written(degree[row])}`];
    return parts.filter(Boolean).join(" · ");
  }

  // -- colours ---------------------------------------------------------------------------------

  async recolour() {
    const { way, lit } = this;
    this.colours = way.rank ? groupColours(way, lit) : shades();
    showLegend(way, this.colours, lit, (rank, more) => this.toggle(rank, more));
    await this.map.colour(way, this.colours, lit);
    this.overlay.showNames(way, lit);
    if (this.chosen.length) this.showChosen();
  }

  /** Highlight a group, or end that. */
  toggle(rank, more) {
    const lit = new Set(more ? this.lit : []);
    if (this.lit?.has(rank)) lit.delete(rank);
    else lit.add(rank);
    this.lit = lit.size ? lit : null;
    return this.recolour();
  }

  colourOf(row) {
    const { way, colours } = this;
    return colours[way.rank ? way.rank[row] : Math.floor(way.share[row] * (SHADES - 1))];
  }

  // -- the selection ---------------------------------------------------------------------------

  /** Choose rows: none, one or many. */
  choose(rows) {
    this.chosen = rows;
    this.map.select(rows);
    this.search.show(rows.length === 1 ? rows[0] : -1);
    this.showChosen();
    writeHash(rows.length === 1 ? hashOf(this.nodes.ids[rows[0]]) : "");
  }

  /** Choose rows that were picked on the map, and uncover them. */
  pick(rows) {
    this.choose(rows);
    if (rows.length) this.map.reveal(rows);
  }

  showChosen() {
    const { nodes, chosen } = this;
    this.overlay.pointed = -1;
    const act = {
      go: (row) => this.go(row),
      point: (row) => this.overlay.point(row),
      colourOf: (row) => this.colourOf(row),
      close: () => this.choose([]),
    };
    if (!chosen.length) closePanel();
    else if (chosen.length === 1) showNode(nodes, chosen[0], act);
    else showSelection(nodes, chosen, this.way, this.colours, act);
    this.overlay.show(chosen.length === 1 ? this.focusOn(chosen[0]) : null);
  }

  focusOn(row) {
    const rows = (found) => (found ?? []).map((one) => one.row);
    const graph = this.nodes.neighbours(row).flatMap((list) => rows(list.found));
    const { nodes } = this;
    return { row, nearest: rows(nodes.similar(row)), missing: rows(nodes.likely(row)), graph };
  }

  /** Go to a row that was searched for, and move the focus to its panel. */
  find(row) {
    this.go(row);
    byId("panel").querySelector("h2").focus();
  }

  /** Choose a row and fly to it. */
  go(row) {
    this.choose([row]);
    return this.map.flyTo(row);
  }

  openHash() {
    const found = location.hash.match(/^#node=(.*)$/);
    if (!found) return;
    let id = found[1];
    try {
      id = decodeURIComponent(id);
    } catch {
      // use it undecoded
    }
    const row = this.nodes.row(id);
    if (row >= 0 && !(this.chosen.length === 1 && this.chosen[0] === row)) this.go(row);
  }

  // -- tooltip and view ------------------------------------------------------------------------

  hover(row) {
    this.hovered = row;
    byId("points").classList.toggle("pointing", row >= 0);
    const tip = byId("tooltip");
    tip.hidden = row < 0;
    if (row < 0) return;
    tip.replaceChildren(this.nodes.ids[row], make("span", {}, this.describe(row)));
    this.placeTip();
  }

  placeTip() {
    const tip = byId("tooltip");
    const [x, y] = this.map.at(this.hovered);
    const left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8);
    const top = y > window.innerHeight - 60 ? y - 44 : y + 14;
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }

  /** Redraw what lies over the points after they have been drawn. */
  follow() {
    this.overlay.draw();
    if (this.hovered >= 0) this.placeTip();
  }

  /** How much of each side of the window panels cover. */
  freeMargins() {
    const bar = byId("bar").getBoundingClientRect();
    const wide = window.innerWidth > 860;
    const legend = byId("legend").getBoundingClientRect();
    const panel = byId("panel");
    return {
      top: bar.bottom,
      bottom: wide || panel.hidden ? 12 : panel.offsetHeight + 12,
      left: wide ? legend.right : 0,
      right: wide && !panel.hidden ? panel.offsetWidth + 12 : 0,
    };
  }

  // -- controls --------------------------------------------------------------------------------

  setUpControls() {
    const colour = byId("colour");
    for (const [name, way] of this.ways) colour.append(make("option", { value: name }, way.title));
    colour.addEventListener("change", () => {
      this.way = this.ways.get(colour.value);
      this.lit = null;
      this.recolour();
    });
    const lasso = byId("lasso");
    lasso.addEventListener("click", () =>
      this.map.lasso(lasso.getAttribute("aria-pressed") !== "true"),
    );
    this.map.onLasso = (wanted) => lasso.setAttribute("aria-pressed", String(wanted));
    byId("reset").addEventListener("click", () => this.map.reset());
    byId("about").addEventListener("click", () => byId("help").showModal());
    document.addEventListener("keydown", (event) => this.press(event));
    window.addEventListener("hashchange", () => this.openHash());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
  }

  press(event) {
    if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (byId("help").open) return;
    const onMap = event.target === byId("points");
    const step = 0.12;
    const moves = {
      ArrowLeft: [-step, 0],
      ArrowRight: [step, 0],
      ArrowUp: [0, step],
      ArrowDown: [0, -step],
      "+": [0, 0, 1.3],
      "=": [0, 0, 1.3],
      "-": [0, 0, 1 / 1.3],
    };
    if (event.key === "/") byId("search").focus();
    else if (event.key === "?") byId("help").showModal();
    else if (event.key === "0") this.map.reset();
    else if (event.key === "Escape") this.clear();
    else if (event.key in moves && (onMap || event.target === document.body)) {
      this.map.nudge(...moves[event.key]);
    } else return;
    event.preventDefault();
  }

  clear() {
    this.map.lasso(false);
    if (this.chosen.length) this.choose([]);
    else if (this.lit) {
      this.lit = null;
      this.recolour();
    }
  }
}

/** The part of the address that names a node; "" if it cannot, as with half a surrogate pair. */
function hashOf(id) {
  try {
    return `#node=${encodeURIComponent(id)}`;
  } catch {
    return "";
  }
}

/** Set the hash of the address, unless the page has none of its own, as within another page. */
function writeHash(hash) {
  try {
    if (location.hash !== hash) history.replaceState(null, "", hash || location.pathname);
  } catch {
    // leave it
  }
}

async function open() {
  const message = byId("message");
  if (!canDraw()) {
    message.textContent =
      "This map is drawn with WebGL, which this browser does not support: turn on hardware acceleration in its settings, or open the page in another browser.";
    return;
  }
  const holder = byId("data");
  const nodes = await readData(holder.textContent);
  holder.remove();
  message.textContent = "";
  const explorer = new Explorer(nodes);
  await explorer.start();
  document.documentElement.dataset.ready = "yes";
}

open().catch((error) => {
  byId("message").textContent = `The map could not be opened: ${error.message}`;
  throw error;
});
