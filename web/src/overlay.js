// Drawn over the points: lines from the chosen node, rings, and the names of groups.

import { make, styled } from "./dom.js";

const NAMES = 12; // group names written on the map
const LINES = 200; // of one kind, at most

export class Overlay {
  constructor(canvas, names, panels, map) {
    this.panels = panels;
    this.canvas = canvas;
    this.names = names;
    this.map = map;
    this.look = {}; // colours of the style sheet, by name
    this.focus = null; // {row, nearest, missing, graph}: rows
    this.pointed = -1;
    this.written = [];
  }

  /** Write the names of the largest groups. */
  showNames(way, lit) {
    const groups = (way.groups ?? [])
      .map((group, rank) => ({ ...group, rank }))
      .filter((group) => group.x !== undefined && !group.without)
      .filter((group) => (lit ? lit.has(group.rank) : true))
      .slice(0, NAMES);
    this.written = groups.map((group) => ({
      ...group,
      element: make("span", {}, group.name),
    }));
    this.names.replaceChildren(...this.written.map(({ element }) => element));
    for (const name of this.written) {
      name.width = name.element.offsetWidth;
      name.height = name.element.offsetHeight;
    }
    this.draw();
  }

  /** Show the lines of a node, or none. */
  show(focus) {
    this.focus = focus;
    this.draw();
  }

  /** Draw a ring around a row, besides the chosen node; -1 for none. */
  point(row) {
    this.pointed = row;
    this.draw();
  }

  draw() {
    const { width, height } = this.map.canvas.getBoundingClientRect();
    const ratio = window.devicePixelRatio;
    if (this.canvas.width !== Math.round(width * ratio))
      this.canvas.width = Math.round(width * ratio);
    if (this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.height = Math.round(height * ratio);
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    for (const name of ["ink", "paper", "text", "near-line", "missing-line", "graph-line"]) {
      this.look[name] = styled(`--${name}`);
    }
    this.taken = this.panels.filter((panel) => !panel.hidden).map(boxOf); // no text here
    if (this.focus) this.drawFocus(pen);
    if (this.pointed >= 0) this.ring(pen, this.pointed, 5, this.look.ink, 2);
    this.placeNames(width, height);
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
    this.writeIds(pen, [row, ...nearest, ...missing]);
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

  /** Ids beside their points, where there is room. */
  writeIds(pen, rows) {
    pen.font = `600 12px ${this.look.text}`;
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    for (const row of rows) {
      const id = this.map.nodes.ids[row];
      const text = id.length > 28 ? `${id.slice(0, 27)}…` : id;
      const [x, y] = this.map.at(row);
      const left = x + this.map.radius(row) + 8;
      const box = [left - 3, y - 8, left + pen.measureText(text).width + 3, y + 8];
      if (this.taken.some((other) => overlap(box, other))) continue;
      this.taken.push(box);
      pen.strokeStyle = this.look.paper;
      pen.lineWidth = 4;
      pen.strokeText(text, left, y);
      pen.fillStyle = this.look.ink;
      pen.fillText(text, left, y);
    }
  }

  /** A ring around a point, at some distance. */
  ring(pen, row, away, colour, width) {
    const radius = this.map.radius(row) + away;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.arc(...this.map.at(row), radius, 0, 2 * Math.PI);
    pen.stroke();
  }

  /** Put each name above its group, larger groups first; those that would overlap are hidden. */
  placeNames(width, height) {
    for (const { element, x, y, width: wide, height: high } of this.written) {
      const [left, top] = this.map.atPlace(x, y);
      const box = [left - wide / 2, top - high - 5, left + wide / 2, top - 5];
      const outside = box[2] < 0 || box[3] < 0 || box[0] > width || box[1] > height;
      const hidden = outside || this.taken.some((other) => overlap(box, other));
      element.style.visibility = hidden ? "hidden" : "visible";
      element.style.transform = `translate(${Math.round(box[0])}px, ${Math.round(box[1])}px)`;
      if (!hidden) this.taken.push(box);
    }
  }
}

function boxOf(element) {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  return [left, top, right, bottom];
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
