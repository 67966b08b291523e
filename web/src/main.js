// The page: its state (selection, colours, filters), and the parts that show it.

import { readData } from "./data.js";
import { byId, counted, make, say, written } from "./dom.js";
import { Filters } from "./filters.js";
import { colourable, colouring, firstColouring, looksOf, sizeable, sizesBy } from "./groups.js";
import { listenToHost } from "./host.js";
import { showLegend, showSizes } from "./legend.js";
import { NodeMap, canDraw } from "./map.js";
import { Overlay } from "./overlay.js";
import { showNode, showSelection } from "./panel.js";
import { picture } from "./picture.js";
import { download } from "./save.js";
import { setUpSearch } from "./search.js";
import { PHONE, STACKED, setUpSheets } from "./sheets.js";
import { swatchMaker } from "./swatches.js";

const STEP = 0.12; // of the view, moved by an arrow key
const FACTOR = 1.3; // of a zoom by a key
const BUTTON_FACTOR = 1.8; // and by a button

/** Everything on the page, once its data is read. */
class Explorer {
  constructor(nodes) {
    this.nodes = nodes;
    this.ways = new Map(); // colourings by name of the column
    this.way = null;
    this.looks = []; // of the colouring
    this.lit = null; // ranks of the highlighted groups, or null for all
    this.size = null; // of the points, by row, or null
    this.chosen = []; // rows: one is shown with its neighbours, many as a selection
    this.back = null; // the element that had the focus before the details
    this.tellHost = () => {}; // what is chosen, to a page around this one
    this.swatch = swatchMaker(nodes.shapes);
    this.map = new NodeMap(byId("points"), nodes, {
      hover: (row) => this.hover(row),
      select: (rows) => this.pick(rows),
      view: () => this.follow(),
      lasso: (wanted) => byId("lasso").setAttribute("aria-pressed", String(wanted)),
      edges: (trouble) => this.tellEdges(trouble),
    });
    this.map.free = () => freeMargins();
    const panels = ["bar", "legend", "filters", "view", "panel", "controls", "notes"].map(byId);
    this.overlay = new Overlay(byId("overlay"), byId("names"), panels, this.map);
    this.filters = new Filters(nodes, () => this.refilter());
    this.search = setUpSearch(nodes, {
      describe: (row) => this.group(row),
      passes: (row) => this.filters.passes(row),
      choose: (rows) => this.go(rows),
    });
    this.hovered = -1;
  }

  async start() {
    this.writeFacts();
    this.setUpMenus();
    this.setUpControls();
    this.recolour();
    await this.map.reset(false);
    this.openHash();
  }

  // -- text around the map ---------------------------------------------------------------------

  writeFacts() {
    const { nodes } = this;
    const total = counted(nodes.total, "node");
    const { count, passing } = this.filters;
    const shown = count ? passing : nodes.count;
    const parts = [shown === nodes.total ? total : `${written(shown)} of ${total}`];
    if (nodes.edges !== null) parts.push(counted(nodes.edges, "edge"));
    parts.push(counted(nodes.dimensions, "dimension"), nodes.method);
    const facts = parts.filter(Boolean).join(" · ");
    byId("facts").textContent = facts;
    byId("view-facts").textContent = facts;
    byId("notes").textContent = nodes.notes.join(" ");
    byId("notes").hidden = !nodes.notes.length;
    byId("made").textContent = `Made by reinforce2vec ${nodes.version}.`;
  }

  /** The label of a row, or else its first category. */
  group(row) {
    return this.nodes.columns.find(({ kind }) => kind === "category")?.text(row) ?? "";
  }

  describe(row) {
    const degree = this.nodes.columns.find(({ name, own }) => own && name === "degree");
    const parts = [this.group(row), degree && `degree ${degree.text(row)}`];
    return parts.filter(Boolean).join(" · ");
  }

  // -- colours, sizes and filters --------------------------------------------------------------

  setUpMenus() {
    const { nodes } = this;
    const colour = byId("colour");
    const size = byId("size");
    const option = ({ name, title }) => make("option", { value: name }, title);
    colour.append(...colourable(nodes).map(option));
    colour.value = firstColouring(nodes)?.name;
    size.append(...sizeable(nodes).map(option), make("option", { value: "" }, "Nothing"));
    const degree = [...size.options].find(({ value }) => value === "degree");
    size.value = degree ? "degree" : "";
    size.closest("label").hidden = size.options.length === 1;
    colour.addEventListener("change", () => {
      this.lit = null;
      this.recolour();
    });
    size.addEventListener("change", () => this.resize());
    this.measure();
  }

  measure() {
    const column = this.nodes.column(byId("size").value) ?? null;
    this.size = column && sizesBy(column);
    showSizes(column);
  }

  resize() {
    this.measure();
    this.paint();
  }

  recolour() {
    const name = byId("colour").value;
    if (!this.ways.has(name)) this.ways.set(name, colouring(this.nodes, this.nodes.column(name)));
    this.way = this.ways.get(name);
    this.looks = looksOf(this.nodes, this.way, this.lit);
    this.paint();
    this.showNames();
    this.writeLegend();
    if (this.chosen.length) this.showChosen();
  }

  refilter() {
    byId("show-filters").classList.toggle("set", this.filters.count > 0);
    this.writeFacts();
    this.paint();
    this.writeLegend();
    if (this.chosen.length) this.showChosen();
  }

  paint() {
    const { way, looks, size } = this;
    this.map.paint({ codes: way.codes, looks, size, shown: this.filters.shown });
  }

  showNames() {
    const { way, lit } = this;
    const named = (rank) => rank !== way.unnamed && (!lit || lit.has(rank));
    const names = (way.groups ?? []).map((group, rank) => (named(rank) ? (group.short ?? group.name) : null));
    this.overlay.showNames(way.groups ? way.codes : null, names);
  }

  writeLegend() {
    const { way, looks, lit, swatch } = this;
    const counts = new Uint32Array(looks.length);
    way.codes.forEach((code, row) => (counts[code] += this.filters.passes(row) ? 1 : 0));
    const plain = lit ? looksOf(this.nodes, way, null) : looks; // of groups that are not highlighted
    const own = looks.map((look, rank) => (lit && !lit.has(rank) ? plain[rank] : look));
    showLegend(way, own, lit, counts, swatch, (rank, more) => this.toggle(rank, more));
  }

  /** Highlight a group, or end that. */
  toggle(rank, more) {
    const lit = new Set(more ? this.lit : []);
    if (this.lit?.has(rank)) lit.delete(rank);
    else lit.add(rank);
    this.lit = lit.size ? lit : null;
    this.recolour();
  }

  // -- the selection ---------------------------------------------------------------------------

  /** Choose rows: none, one or many. */
  choose(rows) {
    this.chosen = rows;
    this.map.select(rows);
    this.search.show(rows.length === 1 ? rows[0] : -1);
    writeHash(rows.length === 1 ? hashOf(this.nodes.ids[rows[0]]) : "");
    if (rows.length) this.sheets.makeRoom();
    this.tellHost(rows);
    return this.showChosen(true);
  }

  /** Show the details of what is chosen; returns the rows that belong in view. */
  async showChosen(anew = false) {
    const { nodes, chosen } = this;
    const focused = byId("panel").contains(document.activeElement);
    this.overlay.pointed = -1;
    if (!chosen.length) {
      byId("panel").hidden = true;
      this.overlay.show(null);
      if (anew) say("Nothing is selected.");
      return [];
    }
    if (chosen.length > 1) {
      showSelection(nodes, chosen, this.way, this.actions());
      this.overlay.show(null);
      if (anew) say(`${counted(chosen.length, "node")} selected`);
      if (focused) this.focusDetails();
      return chosen;
    }
    const [row] = chosen;
    const waiting = setTimeout(() => this.chosen === chosen && this.showDetails(row, null), 150);
    const details = await nodes.details(row).catch((error) => error);
    clearTimeout(waiting);
    if (this.chosen !== chosen) return [];
    if (details instanceof Error) {
      this.showDetails(row, null, details.message);
      if (anew) say(`${nodes.ids[row]}. ${details.message}`);
      return chosen;
    }
    this.showDetails(row, details);
    if (focused) this.focusDetails();
    if (anew) say(this.announced(row, details));
    return shownWith(row, details);
  }

  showDetails(row, details, trouble = "") {
    showNode(this.nodes, row, details, this.actions(), trouble);
    const rows = (found) => (found ?? []).map((one) => one.row);
    this.overlay.show({
      row,
      nearest: rows(details?.similar),
      missing: rows(details?.likely),
      graph: (details?.neighbours ?? []).flatMap(({ found }) => rows(found)),
    });
  }

  actions() {
    return {
      go: (row) => this.go([row]),
      point: (row) => this.overlay.point(row),
      passes: (row) => this.filters.passes(row),
      swatchOf: (row) => this.swatch(this.looks[this.way.codes[row]]),
      close: () => this.close(),
      clearFilters: () => this.filters.clear(),
    };
  }

  /** What a screen reader says of a node. */
  announced(row, { similar, neighbours }) {
    const total = neighbours.reduce((sum, list) => sum + list.total, 0);
    const parts = [this.nodes.ids[row], this.group(row)];
    if (neighbours.length) parts.push(counted(total, "graph neighbour"));
    parts.push(counted(similar.length, "nearest neighbour"));
    return parts.filter(Boolean).join(", ");
  }

  /** Choose rows that were picked on the map; move it only if it does not show all that belongs. */
  async pick(rows) {
    const belonging = await this.choose(rows);
    if (!belonging.length || this.chosen !== rows) return;
    if (rows.length === 1 && !allFree(this.map, belonging)) await this.map.fit(belonging);
    else await this.map.reveal(rows);
  }

  /** Choose rows that were searched for or listed: show them, and move the focus to the details. */
  async go(rows) {
    this.rememberFocus();
    await this.show(rows, true);
  }

  /** Choose rows, and move the map to them. */
  async show(rows, focus = false) {
    const belonging = await this.choose(rows);
    if (!belonging.length || this.chosen !== rows) return;
    if (focus) this.focusDetails();
    await this.map.fit(belonging);
  }

  focusDetails() {
    byId("panel").querySelector("h2").focus({ preventScroll: true });
  }

  rememberFocus() {
    const { activeElement } = document;
    if (activeElement !== document.body && !byId("panel").contains(activeElement)) {
      this.back = activeElement;
    }
  }

  /** Close the details, and move the focus back to where it was. */
  close() {
    const inside = byId("panel").contains(document.activeElement);
    this.choose([]);
    if (inside) (this.back?.isConnected ? this.back : byId("points")).focus();
    this.back = null;
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
    if (row >= 0 && !(this.chosen.length === 1 && this.chosen[0] === row)) this.go([row]);
  }

  // -- tooltip and view ------------------------------------------------------------------------

  hover(row) {
    this.hovered = row;
    byId("points").classList.toggle("pointing", row >= 0);
    const tip = byId("tooltip");
    tip.hidden = row < 0;
    if (row < 0) return;
    tip.replaceChildren(this.nodes.ids[row], make("span", this.describe(row)));
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
    this.overlay?.draw();
    const at = this.chosen.length === 1 ? this.map.at(this.chosen[0]).map(Math.round) : [];
    byId("points").dataset.chosen = at.join(" "); // where the chosen node is, in pixels
    if (this.hovered >= 0) this.placeTip();
  }

  // -- controls --------------------------------------------------------------------------------

  setUpControls() {
    const { map } = this;
    const onClick = (id, listener) => byId(id).addEventListener("click", listener);
    onClick("lasso", () => map.lasso(byId("lasso").getAttribute("aria-pressed") !== "true"));
    onClick("reset", () => map.reset());
    onClick("zoom-in", () => map.zoom(BUTTON_FACTOR));
    onClick("zoom-out", () => map.zoom(1 / BUTTON_FACTOR));
    onClick("about", () => byId("help").showModal());
    for (const type of ["png", "svg"]) onClick(`save-${type}`, () => this.savePicture(type));
    for (const name of ["edges", "density"]) {
      byId(name).checked = map[name];
      byId(name).addEventListener("change", () => (map[name] = byId(name).checked));
    }
    byId("edges").closest("label").hidden = this.nodes.edges === null;
    this.sheets = setUpSheets({ filters: () => this.filters.open() }, () => this.makeWay());
    document.addEventListener("keydown", (event) => this.press(event));
    window.addEventListener("hashchange", () => this.openHash());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
  }

  /** Say why edges are not drawn; "" if they are. */
  tellEdges(trouble) {
    const line = byId("no-edges");
    if (line.textContent !== trouble) line.textContent = trouble;
    line.hidden = !trouble;
  }

  /** After a panel was opened or closed: on a phone, show all nodes beside it if all were shown. */
  makeWay() {
    const { map } = this;
    if (PHONE.matches && !this.chosen.length && map.atHome) map.reset();
    else this.overlay.draw();
  }

  async savePicture(type) {
    const blob = await picture(this.map, this.overlay, this.legend(), type);
    download(`${this.nodes.file_name}.${type}`, blob.type, blob);
    say(`The picture was saved as ${type.toUpperCase()}.`);
  }

  /** The legend as data: entries, or ticks of a scale. */
  legend() {
    const { way, looks, nodes } = this;
    const entries = way.groups?.map((group, rank) => ({ name: group.name, look: looks[rank] }));
    return { title: nodes.title, heading: way.summary, entries, scale: way.scale, looks };
  }

  press(event) {
    if (event.target.matches("input, select") && event.key !== "Escape") return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (byId("help").open) return;
    const onMap = event.target === byId("points") || event.target === document.body;
    const moves = {
      ArrowLeft: [-STEP, 0],
      ArrowRight: [STEP, 0],
      ArrowUp: [0, STEP],
      ArrowDown: [0, -STEP],
      "+": [0, 0, FACTOR],
      "=": [0, 0, FACTOR],
      "-": [0, 0, 1 / FACTOR],
    };
    if (event.key === "/") byId("search").focus();
    else if (event.key === "?") byId("help").showModal();
    else if (event.key === "0") this.map.reset();
    else if (event.key === "Escape") this.clear();
    else if (event.key === "Enter" && onMap) this.chooseMiddle();
    else if (event.key in moves && onMap) this.map.nudge(...moves[event.key]);
    else return;
    event.preventDefault();
  }

  /** Choose the node nearest to the middle of the map. */
  chooseMiddle() {
    const [x, y] = this.map.freeMiddle();
    const away = (row) => Math.hypot(this.map.at(row)[0] - x, this.map.at(row)[1] - y);
    let [best, nearest] = [-1, Infinity];
    for (const row of this.map.inView()) {
      if (away(row) < nearest) [best, nearest] = [row, away(row)];
    }
    if (best >= 0) this.go([best]);
  }

  clear() {
    this.map.lasso(false);
    if (this.chosen.length) this.close();
    else if (this.lit) {
      this.lit = null;
      this.recolour();
    }
  }
}

/** The rows that belong in view with a node: the nearest, and likely missing links. */
function shownWith(row, { similar, likely }) {
  return [row, ...similar.map((one) => one.row), ...(likely ?? []).map((one) => one.row)];
}

/** Whether all rows are in the part of the map that panels leave free. */
function allFree(map, rows) {
  const { left, right, top, bottom } = freeMargins();
  return rows.every((row) => {
    const [x, y] = map.at(row);
    const across = x > left + 8 && x < window.innerWidth - right - 8;
    return across && y > top + 8 && y < window.innerHeight - bottom - 8;
  });
}

/** How much of each side of the window panels cover. */
function freeMargins() {
  const box = (id) => byId(id).getBoundingClientRect(); // all 0 if it is hidden
  const above = (id) => (byId(id).hidden ? 0 : window.innerHeight - box(id).top);
  const sheets = PHONE.matches ? ["legend", "filters", "view"].map(above) : [];
  const beside = byId("panel").hidden ? 0 : window.innerWidth - box("controls").left;
  const left = PHONE.matches ? 0 : Math.max(box("legend").right, box("filters").right);
  return {
    top: box("bar").bottom,
    bottom: Math.max(12, STACKED.matches ? above("panel") : 0, ...sheets),
    left,
    right: beside, // a chosen node is not under the buttons either
  };
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
    const plain = location.pathname + location.search;
    if (location.hash !== hash) history.replaceState(null, "", hash || plain);
  } catch {
    // leave it
  }
}

async function open() {
  const connect = listenToHost();
  const message = byId("message");
  if (!canDraw()) {
    message.textContent =
      "This map is drawn with WebGL 2, which this browser does not support: turn on hardware acceleration in its settings, or open the page in another browser.";
    return;
  }
  const holder = byId("data");
  const nodes = await readData(holder, (share) => {
    message.textContent = `Opening the map … ${Math.floor(share * 100)} %`;
  });
  holder.remove();
  message.textContent = "";
  const explorer = new Explorer(nodes);
  await explorer.start();
  explorer.tellHost = connect((rows) => explorer.show(rows));
  document.documentElement.dataset.ready = "yes";
}

open().catch((error) => {
  byId("message").textContent = `The map could not be opened: ${error.message}`;
  throw error;
});
