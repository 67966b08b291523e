// Drawn around the points: edges beneath them; contours, lines from the chosen node, rings and the
// lasso over them; and names. What depends on all nodes in view waits until the map is at rest.

import { make, styled, written } from "./dom.js";
import { contoursInView } from "./map/contours.js";
import { groupsInView } from "./map/names.js";

const LINES = 200; // from the chosen node, of one kind, at most
const EDGES = 15_000; // of what is in view, at most
const ENDS = 20_000; // nodes in view whose edges are looked for, at most
const IDS = 250; // nodes in view up to which their ids are written
const FEW = 50; // nodes of a map on which names are beside points, which they would cover
const COLOURS = ["ink", "paper", "text", "accent", "near-line", "missing-line", "graph-line"];

export class Overlay {
  /** `names` is the element that holds names of groups; no text is written beneath `panels`. */
  constructor(canvas, names, panels, map) {
    Object.assign(this, { canvas, names, panels, map });
    this.beneath = make("canvas.beneath", { "aria-hidden": "true" });
    Object.assign(this.beneath.style, {
      ...{ position: "absolute", inset: "0", width: "100%", height: "100%" },
      pointerEvents: "none",
    });
    map.canvas.before(this.beneath);
    map.canvas.style.background = "none"; // what is beneath shows through
    this.look = {}; // colours of the style sheet, by name
    this.focus = null; // {row, nearest, missing, graph}: rows
    this.pointed = -1;
    this.groups = { codes: null, names: [] };
    this.placed = []; // names: {text, x, y, element, width, height, hidden}
    this.contours = []; // by level
    this.edges = []; // pairs of rows
    this.others = []; // rows whose ids are written where there is room
    this.settled = null; // the view of which the above are
  }

  /** Name the groups in view: the number of the group of each row, and the names, null for none. */
  showNames(codes, names) {
    this.groups = { codes, names };
    this.settle();
  }

  /** Show the lines of a node, which are {row, nearest, missing, graph}, or null for none. */
  show(focus) {
    this.focus = focus;
    this.draw();
  }

  /** Draw a ring around a row, besides the chosen node; -1 for none. */
  point(row) {
    this.pointed = row;
    this.draw();
  }

  // -- what is in view -------------------------------------------------------------------------

  /** What decides what is in view, as text. */
  view() {
    const { camera, version } = this.map;
    return [camera.x, camera.y, camera.scale, camera.width, camera.height, version].join(" ");
  }

  /** Look again at what is in view. */
  settle() {
    const { map } = this;
    this.settled = this.view();
    this.contours = map.density ? contoursInView(map) : [];
    this.canvas.dataset.contours = this.contours.length;
    const few = map.inView(IDS) ?? [];
    const size = map.painted.size;
    this.others = size ? few.sort((a, b) => size[b] - size[a] || a - b) : few;
    this.writeNames();
    this.paint();
    this.findEdges(this.settled);
  }

  async findEdges(view) {
    const { map } = this;
    const rows = map.edges ? map.inView(ENDS) : [];
    const many = rows ? `${written(EDGES)} edges` : `${written(ENDS)} nodes`;
    let trouble = `More than ${many} are in view: zoom in to see edges.`;
    let found = rows && [];
    try {
      if (rows?.length) found = await map.nodes.edgesAmong(rows, EDGES);
    } catch (error) {
      found = null;
      trouble = error.message;
    }
    if (view !== this.settled) return; // it has moved on
    this.edges = found ?? [];
    this.canvas.dataset.edges = found ? found.length : "none";
    map.on.edges(found ? "" : trouble);
    this.draw();
  }

  /** Make an element for each name; names that stay keep theirs. */
  writeNames() {
    const { codes, names } = this.groups;
    const before = new Map(this.placed.map((name) => [name.group, name]));
    const found = codes ? groupsInView(this.map, codes, names) : [];
    this.placed = found.map((place) => {
      const text = names[place.group];
      const known = before.get(place.group);
      if (known?.text === text) return { ...known, ...place };
      return { ...place, text, element: make("span", text), width: 0, height: 0 };
    });
    this.names.replaceChildren(...this.placed.map(({ element }) => element));
    for (const name of this.placed.filter(({ width }) => !width)) {
      name.width = name.element.offsetWidth;
      name.height = name.element.offsetHeight;
    }
  }

  // -- drawing ---------------------------------------------------------------------------------

  /** Draw everything; once the map is at rest, for what is now in view. */
  draw() {
    if (!this.map.moves && this.view() !== this.settled) this.settle();
    else this.paint();
  }

  paint() {
    for (const name of COLOURS) this.look[name] = styled(`--${name}`);
    this.paintBeneath(this.cleared(this.beneath));
    const pen = this.cleared(this.canvas);
    this.paintAbove(pen);
    for (const { element, hidden, box } of this.placed) {
      element.style.visibility = hidden ? "hidden" : "visible";
      element.style.transform = `translate(${Math.round(box[0])}px, ${Math.round(box[1])}px)`;
    }
  }

  /** The pen of a canvas of the size of the map, with nothing on it. */
  cleared(canvas) {
    const { width, height } = this.map.camera;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== high) canvas.height = high;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    return pen;
  }

  /** Draw the edges in view. */
  paintBeneath(pen) {
    if (!this.edges.length) return;
    pen.globalAlpha = Math.max(0.2, Math.min(0.7, 12 / Math.sqrt(this.edges.length)));
    pen.strokeStyle = this.look["graph-line"];
    pen.lineWidth = 1;
    pen.beginPath();
    for (const [from, to] of this.edges) {
      pen.moveTo(...this.map.at(from));
      pen.lineTo(...this.map.at(to));
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  /** Draw all but the names of groups over the points, and decide where those are. */
  paintAbove(pen, panels = this.panels, room = this.whole()) {
    this.room = room;
    this.taken = panels.filter((panel) => !panel.hidden).map((panel) => this.boxOf(panel));
    this.drawContours(pen);
    if (this.focus) this.drawFocus(pen);
    if (this.pointed >= 0) this.ring(pen, this.pointed, 5, this.look.ink, 2);
    if (this.map.path) this.drawLasso(pen, this.map.path);
    this.placeNames();
    this.writeIds(pen, this.others, 400);
  }

  drawContours(pen) {
    pen.strokeStyle = this.look.ink;
    this.contours.forEach((lines, level) => {
      pen.globalAlpha = 0.3 + 0.1 * level;
      pen.lineWidth = 1;
      pen.beginPath();
      for (const line of lines) {
        line.forEach(([x, y], i) => pen[i ? "lineTo" : "moveTo"](...this.map.atPlace(x, y)));
      }
      pen.stroke();
    });
    pen.globalAlpha = 1;
  }

  drawFocus(pen) {
    const { row, nearest, missing, graph } = this.focus;
    pen.globalAlpha = Math.max(0.12, Math.min(0.8, 8 / Math.sqrt(graph.length + 1)));
    this.lines(pen, row, graph, this.look["graph-line"], 1, []);
    pen.globalAlpha = 1;
    this.lines(pen, row, missing, this.look["missing-line"], 1.5, [5, 4]);
    this.lines(pen, row, nearest, this.look["near-line"], 1.5, []);
    for (const miss of missing) this.ring(pen, miss, 2.5, this.look["missing-line"], 1.6);
    for (const near of nearest) this.ring(pen, near, 2.5, this.look["near-line"], 1.6);
    this.ring(pen, row, 4, this.look.paper, 6);
    this.ring(pen, row, 4, this.look.ink, 2.5);
    this.writeIds(pen, [row, ...nearest, ...missing], 600);
  }

  /** Lines from the rim of one point to the rims of others. */
  lines(pen, from, rows, colour, width, dashes) {
    const [x, y] = this.map.at(from);
    const start = this.map.radius(from) + 4;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.setLineDash(dashes);
    pen.beginPath();
    for (const row of rows.slice(0, LINES)) {
      const [toX, toY] = this.map.at(row);
      const length = Math.hypot(toX - x, toY - y);
      const end = length - this.map.radius(row) - 2.5;
      if (end <= start) continue;
      const [right, down] = [(toX - x) / length, (toY - y) / length];
      pen.moveTo(x + right * start, y + down * start);
      pen.lineTo(x + right * end, y + down * end);
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  drawLasso(pen, path) {
    pen.beginPath();
    path.forEach(([x, y], i) => pen[i ? "lineTo" : "moveTo"](x, y));
    pen.closePath();
    pen.fillStyle = pen.strokeStyle = this.look.accent;
    pen.globalAlpha = 0.12;
    pen.fill();
    pen.globalAlpha = 1;
    pen.lineWidth = 2;
    pen.stroke();
  }

  /** Ids beside their points, where there is room. */
  writeIds(pen, rows, weight) {
    pen.font = `${weight} 12px ${this.look.text}`;
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    for (const row of rows) {
      const id = this.map.nodes.ids[row];
      const text = id.length > 28 ? `${id.slice(0, 27)}…` : id;
      const [x, y] = this.map.at(row);
      const left = x + this.map.radius(row) + (weight > 400 ? 8 : 4);
      const box = [left - 3, y - 8, left + pen.measureText(text).width + 3, y + 8];
      if (!this.take(box)) continue;
      this.writeText(pen, text, left, y);
    }
  }

  /** Write the names that are not hidden; on the screen, elements do. */
  paintNames(pen) {
    pen.font = `650 13px ${this.look.text}`;
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    for (const { text, box, hidden } of this.placed) {
      if (!hidden) this.writeText(pen, text, (box[0] + box[2]) / 2, (box[1] + box[3]) / 2);
    }
  }

  /** Text with a rim in the colour of the paper. */
  writeText(pen, text, x, y) {
    pen.lineJoin = "round";
    pen.strokeStyle = this.look.paper;
    pen.lineWidth = 4;
    pen.strokeText(text, x, y);
    pen.fillStyle = this.look.ink;
    pen.fillText(text, x, y);
  }

  /** A ring around a point, at some distance. */
  ring(pen, row, away, colour, width) {
    const radius = this.map.radius(row) + away;
    const [x, y] = this.map.at(row);
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    pen.stroke();
  }

  // -- where text is ---------------------------------------------------------------------------

  /** Put each name on its group, or else just above or below; where there is no room, hide it. */
  placeNames() {
    const [left, top, right, bottom] = this.room;
    for (const name of this.placed) {
      const [x, y] = this.map.atPlace(name.x, name.y);
      const half = [name.width / 2, name.height / 2];
      const middle = between(x, left + half[0], right - half[0]); // all of it is in view
      const box = (down) => [
        ...[middle - half[0], y + down - half[1]],
        ...[middle + half[0], y + down + half[1]],
      ];
      const seen = x >= left && x <= right && y >= top && y <= bottom;
      const beside = [-name.height, name.height];
      const offsets = this.map.nodes.count > FEW ? [0, ...beside] : beside.map((down) => 1.2 * down);
      const places = seen ? offsets.map(box) : [];
      const found = places.find((one) => this.take(one));
      name.hidden = !found;
      name.box = found ?? box(0);
    }
  }

  /** Take a place for text, if it is free and in view. */
  take(box) {
    const [left, top, right, bottom] = this.room;
    if (box[0] < left || box[1] < top || box[2] > right || box[3] > bottom) return false;
    if (this.taken.some((other) => overlap(box, other))) return false;
    this.taken.push(box);
    return true;
  }

  /** All of the map, in pixels. */
  whole() {
    return [0, 0, this.map.camera.width, this.map.camera.height];
  }

  /** Where an element is, in pixels of the map. */
  boxOf(element) {
    const [own, map] = [element, this.map.canvas].map((one) => one.getBoundingClientRect());
    return [own.left - map.left, own.top - map.top, own.right - map.left, own.bottom - map.top];
  }
}

const between = (value, low, high) => Math.min(Math.max(value, low), high);

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
