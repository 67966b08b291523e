// The map: points drawn with WebGL by regl-scatterplot, and its camera.

import createScatterplot from "regl-scatterplot";
import { IN_COLOUR, SHADES, dimmed } from "./colours.js";
import { calm, styled } from "./dom.js";
import { extent } from "./groups.js";

const SIZES = 24; // steps between the smallest and the largest point
const FEW = 100; // up to so many nodes, the view always shows all
const FARTHEST = 0.004; // share of the nodes left outside the first view at each side
const MARGIN = 1.12; // of the view around all nodes

/** Whether this browser has the WebGL features that drawing needs. */
export function canDraw() {
  const gl = document.createElement("canvas").getContext("webgl");
  const able = Boolean(gl?.getExtension("OES_texture_float"));
  gl?.getExtension("WEBGL_lose_context")?.loseContext(); // it is no longer needed
  return able;
}

/** A linear scale with the part of d3's interface that regl-scatterplot uses. */
function scale() {
  let domain = [-1, 1];
  let range = [0, 1];
  const place = (value) =>
    range[0] + ((value - domain[0]) / (domain[1] - domain[0])) * (range[1] - range[0]);
  place.domain = (given) => (given ? ((domain = given), place) : domain);
  place.range = (given) => (given ? ((range = given), place) : range);
  return place;
}

/** Draws nodes, and gives their positions on the screen. */
export class NodeMap {
  /** `on` has the listeners: hover(row or -1), select(rows), view(). */
  constructor(canvas, nodes, on) {
    this.nodes = nodes;
    this.canvas = canvas;
    const span = extent(nodes);
    this.half = span.size / 2;
    this.middle = [span.left + this.half, span.bottom + this.half];
    this.xScale = scale();
    this.yScale = scale();
    this.points = Array.from(nodes.x, (_, row) => [
      (nodes.x[row] - this.middle[0]) / this.half,
      (nodes.y[row] - this.middle[1]) / this.half,
      0,
      0,
    ]);
    this.home = this.whereMostAre();
    this.size = this.sizes();
    this.drawn = Promise.resolve();
    this.plot = createScatterplot({
      canvas,
      width: "auto",
      height: "auto",
      xScale: this.xScale,
      yScale: this.yScale,
      syncEvents: true, // so that the overlay moves with the points
      spatialIndexUseWorker: false,
      lassoMinDelay: 0,
      lassoMinDist: 3,
      lassoLineWidth: 2,
      actionKeyMap: { lasso: "shift", merge: "meta", remove: "alt" },
      pointOutlineWidth: 0,
      pointSizeSelected: 1,
      opacityBy: "density",
      opacityByDensityFill: 0.35,
      deselectOnEscape: false, // the page handles Escape itself
    });
    this.plot.subscribe("pointOver", (row) => on.hover(row));
    this.plot.subscribe("pointOut", () => on.hover(-1));
    this.plot.subscribe("select", ({ points }) => on.select([...points]));
    this.plot.subscribe("deselect", () => on.select([]));
    this.plot.subscribe("drawing", () => on.view());
    this.plot.subscribe("lassoEnd", () => this.lasso(false));
    this.ignoreClicksOfLassos();
  }

  /** Do not treat a lasso that ends where it began as a click on a node. */
  ignoreClicksOfLassos() {
    let lassoed = false;
    this.plot.subscribe("lassoEnd", () => (lassoed = true));
    this.canvas.addEventListener("mousedown", () => (lassoed = false), true);
    this.canvas.addEventListener(
      "click",
      (event) => lassoed && event.stopImmediatePropagation(),
      true,
    );
  }

  /** The rectangle around all nodes, without outliers if there are many nodes. */
  whereMostAre() {
    const beyond = Math.floor(this.points.length * FARTHEST);
    const [[left, right], [bottom, top]] = [0, 1].map((axis) => {
      const sorted = Float32Array.from(this.points, (point) => point[axis]).sort();
      return [sorted[beyond], sorted[sorted.length - 1 - beyond]];
    });
    return { left, right, bottom, top };
  }

  /** Point sizes for this number of nodes; hubs are larger if degrees are known. */
  sizes() {
    const n = this.nodes.count;
    const least = Math.min(13, Math.max(2.4, 40 / (n + 40) ** 0.25));
    const most = this.nodes.degree ? least * 2.4 : least;
    return Array.from({ length: SIZES }, (_, i) => least + (most - least) * (i / (SIZES - 1)) ** 2);
  }

  /** Colour all nodes; `lit` is the set of ranks of highlighted groups, or null. */
  colour(way, colours, lit) {
    const done = this.drawn.then(() => this.recolour(way, colours, lit)); // one after another
    this.drawn = done.catch(() => {});
    return done;
  }

  async recolour(way, colours, lit) {
    const share = this.nodes.degree ? this.shares() : null;
    this.points.forEach((point, row) => {
      point[2] = way.rank ? way.rank[row] : Math.floor(way.share[row] * (SHADES - 1));
      point[3] = share ? share[row] : 0;
    });
    const shown = colours.map((colour, rank) => (lit && !lit.has(rank) ? dimmed() : colour));
    const pointColor = shown.length > 1 ? shown : [shown[0], shown[0]]; // regl-scatterplot needs at least two
    const bright = (rank) => (lit ? lit.has(rank) : rank < IN_COLOUR && rank !== way.unnamed);
    const order = way.rank && way.groups.length > 1 ? this.lastOf(way.rank, bright) : null;
    await this.plot.set({
      pointColor,
      pointColorActive: pointColor,
      pointColorHover: styled("--ink"),
      backgroundColor: styled("--paper"),
      lassoColor: styled("--accent"),
      colorBy: "valueA",
      sizeBy: "valueB",
      pointSize: this.size,
      pointOrder: order,
    });
    const spatialIndex = this.plot.get("spatialIndex");
    const kinds = { zDataType: "categorical", wDataType: "continuous" };
    await this.plot.draw(this.points, spatialIndex ? { ...kinds, spatialIndex } : kinds);
  }

  /** The degree of each node, scaled to 0 to 1. */
  shares() {
    if (!this.share) {
      const most = this.nodes.degree.reduce((a, b) => Math.max(a, b), 1);
      this.share = Float32Array.from(this.nodes.degree, (count) => Math.sqrt(count / most));
    }
    return this.share;
  }

  /** All rows, those of highlighted groups last: they are drawn over the others. */
  lastOf(rank, bright) {
    const [under, over] = [[], []];
    rank.forEach((group, row) => (bright(group) ? over : under).push(row));
    return under.length && over.length ? under.concat(over) : null;
  }

  /** Show these rows as selected, without calling listeners. */
  select(rows) {
    this.plot.set({ opacityInactiveScale: rows.length > 1 ? 0.15 : 1 });
    if (rows.length) this.plot.select([...rows], { preventEvent: true });
    else this.plot.deselect({ preventEvent: true });
  }

  /** Half the width of the point of a row on the screen. */
  radius(row) {
    const zoom = Math.max(1, this.plot.get("camera").scaling[0]);
    const share = this.nodes.degree ? this.shares()[row] : 0;
    const size = this.size[Math.floor(share * (SIZES - 1))];
    return (size * Math.asinh(zoom)) / Math.asinh(1) / 2;
  }

  /** Whether dragging draws a lasso, rather than moving the map. */
  lasso(wanted) {
    this.plot.set({ mouseMode: wanted ? "lasso" : "panZoom" });
    this.canvas.classList.toggle("lassoing", wanted);
    this.onLasso?.(wanted);
  }

  /** The screen position of a row. */
  at(row) {
    return [this.xScale(this.points[row][0]), this.yScale(this.points[row][1])];
  }

  /** The screen position of a point of the map. */
  atPlace(x, y) {
    const place = [(x - this.middle[0]) / this.half, (y - this.middle[1]) / this.half];
    return [this.xScale(place[0]), this.yScale(place[1])];
  }

  /** Show all nodes. */
  reset(smoothly = true) {
    const { left, right, bottom, top } = this.home;
    const half = [right - left, top - bottom].map((side) => Math.max(side / 2, 0.02) * MARGIN);
    return this.lookAt((left + right) / 2, (bottom + top) / 2, ...half, smoothly);
  }

  /** Fly to a node, close enough to separate it from its surroundings. */
  flyTo(row) {
    if (this.nodes.count <= FEW) return this.reset();
    const [x, y] = this.points[row];
    const away = this.nodes.similar(row).map((near) => {
      const [nearX, nearY] = this.points[near.row];
      return Math.hypot(nearX - x, nearY - y);
    });
    away.sort((a, b) => a - b);
    const reach = 3 * (away[Math.floor(away.length * 0.7)] ?? 0.1);
    const half = Math.max(Math.min(reach, 0.5), Math.sqrt(30 / this.nodes.count), 0.01);
    return this.lookAt(x, y, half, half, true);
  }

  /** Centre a point, with some distance to each side visible beside the panels. */
  lookAt(x, y, halfWidth, halfHeight, smoothly) {
    const free = this.free?.() ?? { left: 0, right: 0, top: 0, bottom: 0 };
    const { width, height } = this.canvas.getBoundingClientRect();
    const [inner, tall] = [width - free.left - free.right, height - free.top - free.bottom];
    const unit = Math.max(halfWidth / inner, halfHeight / tall, 1e-6); // of the map, for half a pixel
    const [wide, high] = [2 * unit * width, 2 * unit * height];
    const rect = {
      x: x - wide / 2 + unit * (free.right - free.left),
      y: y - high / 2 + unit * (free.top - free.bottom),
      width: wide,
      height: high,
    };
    return this.moveTo(rect, smoothly);
  }

  moveTo(rect, smoothly) {
    if (!smoothly || calm()) return this.plot.zoomToArea(rect);
    return this.plot.zoomToArea(rect, { transition: true, transitionDuration: 600 });
  }

  /** Move the map to the left if the panel at the right hides rows. */
  reveal(rows) {
    const { width } = this.canvas.getBoundingClientRect();
    const free = this.free();
    const across = rows.map((row) => this.at(row)[0]).sort((a, b) => a - b);
    const [first, last] = [across[0], across.at(-1)];
    const hidden = last + 40 - (width - free.right);
    const by = Math.min(hidden, Math.max(first - free.left - 40, 0)) / width;
    if (by <= 0 || first < 0 || last > width) return;
    const [left, right] = this.xScale.domain();
    const [low, top] = this.yScale.domain();
    const x = left + by * (right - left);
    this.moveTo({ x, y: low, width: right - left, height: top - low }, true);
  }

  /** Move by a share of the view, or zoom by a factor, for keyboard control. */
  nudge(right, up, factor = 1) {
    const [left, farRight] = this.xScale.domain();
    const [low, top] = this.yScale.domain();
    const [wide, high] = [(farRight - left) / factor, (top - low) / factor];
    const x = (left + farRight) / 2 + right * wide;
    const y = (low + top) / 2 + up * high;
    this.plot.zoomToArea({ x: x - wide / 2, y: y - high / 2, width: wide, height: high });
  }
}
