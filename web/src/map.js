// The map: a camera over points that WebGL draws, and what gestures on it do.

import { calm, styled } from "./dom.js";
import { Camera, fly } from "./map/camera.js";
import { listen } from "./map/gestures.js";
import { Grid, within } from "./map/picking.js";
import { Points } from "./map/points.js";
import { outlinesOf } from "./map/shapes.js";

export { canDraw } from "./map/points.js";

const FARTHEST = 0.004; // share of the nodes left outside the first view at each side
const MARGIN = 1.12; // of the view around nodes
const NEAR = { mouse: 6, pen: 14, touch: 24 }; // pixels between a pointer and the node it picks
const GROWTH = 2; // the largest point is wider than the smallest by so many times its diameter
const RIMS = [
  [8, 1],
  [5, 0.6],
  [0, 0],
]; // points of so many pixels across have rims so wide, which separate those that overlap
const USUAL = 900 * 620; // square pixels that the map covers; on a small screen points are smaller
const FILLED = 0.35; // share of the view that points may cover before they become transparent
const FAINTEST = 0.25; // opacity of points, however many there are
const FAINT = 0.15; // opacity of the others where several are selected
const CLOSEST = 2 ** 21; // pixels across all of the map: beyond it, positions lack digits
const MANY = 20_000; // with more nodes, and where drawing takes longer than a frame of a movement
const FRAME = 40; // (in milliseconds), a sample of the nodes moves
const REST = 150; // milliseconds without movement after which the map is at rest
const CONTOURED = 20_000; // from so many nodes on, contours are drawn at first
const FEW_EDGES = 300; // up to so many are drawn at first
const NO_PANELS = { left: 0, right: 0, top: 0, bottom: 0 };

/** Draws nodes, and gives their positions on the screen. */
export class NodeMap {
  /**
   * `on` has the listeners: hover(row or -1), select(rows), view() after each drawing, lasso(whether
   * it is on), edges(why those in view are not drawn, or "").
   */
  constructor(canvas, nodes, on) {
    Object.assign(this, { canvas, nodes, on });
    this.free = () => NO_PANELS; // pixels that panels cover at each side
    this.camera = new Camera();
    const span = extent(nodes);
    this.grid = new Grid(nodes.x, nodes.y, span);
    this.home = whereMostAre(nodes, span.size);
    this.outlines = outlinesOf(nodes.shapes ?? ["circle"]);
    this.points = new Points(canvas, nodes.x, nodes.y, this.outlines, () => this.changed());
    this.painted = { codes: new Uint16Array(nodes.count), looks: [], size: null, shown: null };
    this.spread = 1; // the diameter of points on average, as a multiple of the smallest
    this.passing = 1; // the share of the nodes that are shown
    this.chosen = []; // the selected rows
    this.chosenSet = new Set();
    this.layers = [];
    this.path = null; // of the lasso, in pixels
    this.lassoing = false;
    this.hovered = -1;
    this.version = 0; // of all that decides what is drawn but the camera
    this.frame = 0;
    this.share = nodes.count > MANY ? null : 1; // of the points, to draw while the map moves
    this.moves = false;
    this.movements = 0;
    this.flight = null;
    this.showsContours = nodes.count >= CONTOURED;
    this.showsEdges = nodes.edges !== null && nodes.edges <= FEW_EDGES;
    this.atHome = true; // whether all nodes are shown, or about to be
    this.span = span;
    this.resize();
    new ResizeObserver(() => this.resize()).observe(canvas);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => this.changed());
    listen(canvas, this.actions());
  }

  /** What gestures do. */
  actions() {
    return {
      pan: (right, down) => this.move(() => this.camera.pan(right, down)),
      zoom: (x, y, factor) => this.move(() => this.camera.zoomAt(x, y, factor)),
      tap: (x, y, event) => {
        const row = this.pick(x, y, NEAR[event.pointerType] ?? NEAR.touch);
        if (row >= 0) this.on.select(combined(this.chosen, [row], event));
      },
      tapTwice: (x, y) => this.go(zoomed(this.camera, x, y, 2)),
      hover: (x, y) => this.hover(this.pick(x, y, NEAR.mouse)),
      leave: () => this.hover(-1),
      wantsLasso: () => this.lassoing,
      drawLasso: (path) => this.drawLasso(path),
      endLasso: (path, event) => {
        this.drawLasso(null);
        if (!path) return;
        this.lasso(false);
        this.on.select(combined(this.chosen, this.inside(path), event));
      },
    };
  }

  // -- what is drawn ---------------------------------------------------------------------------

  /**
   * Paint the nodes: `codes` has the number of each row's look in `looks`, which are {colour, shape,
   * alpha}; `size` is from 0 to 1, or null; rows of which `shown` is 0 are neither drawn nor picked.
   */
  paint({ codes, looks, size = null, shown = null }) {
    this.painted = { codes, looks, size, shown };
    this.spread = size ? spreadOf(size) : 1;
    this.passing = shown ? shown.reduce((sum, one) => sum + one, 0) / shown.length : 1;
    this.points.paint(codes, looks, size);
    this.arrange();
  }

  /** Show these rows as selected, without calling listeners. */
  select(rows) {
    this.chosen = [...rows];
    this.arrange();
  }

  /** Faint looks below, others over them, and what is selected on top. */
  arrange() {
    this.chosenSet = new Set(this.chosen);
    const others = this.chosen.length > 1 ? FAINT : 1;
    this.layers = [others, others, 1]; // their opacities
    this.points.arrange((row) => this.layerOf(row), this.layers);
    this.changed();
  }

  /** The layer of a row, -1 if it is not shown. */
  layerOf(row) {
    if (!this.isShown(row)) return -1;
    if (this.chosenSet.has(row)) return 2;
    const { codes, looks } = this.painted;
    return (looks[codes[row]].alpha ?? 1) < 1 ? 0 : 1;
  }

  isShown(row) {
    return !this.painted.shown || Boolean(this.painted.shown[row]);
  }

  /** Draw again before the next frame. */
  changed() {
    this.version++;
    this.redraw();
  }

  redraw() {
    this.frame ||= requestAnimationFrame((time) => this.drawFrame(time));
  }

  /** Draw a frame: all points, or a sample of them while the map moves. */
  drawFrame() {
    this.frame = 0;
    this.draw(this.moves ? this.movingShare() : 1);
  }

  /** The share of the points that is drawn in the time of a frame, measured once. */
  movingShare() {
    if (this.share === null) {
      const start = performance.now();
      this.points.draw(this.camera, window.devicePixelRatio, this.style(1));
      this.points.finish();
      this.share = Math.min(1, FRAME / (performance.now() - start));
    }
    return this.share;
  }

  draw(share = 1) {
    const ratio = window.devicePixelRatio || 1;
    this.points.draw(this.camera, ratio, this.style(share));
    this.on.view();
  }

  style(share) {
    const opacity = this.opacity(share);
    const rim = RIMS.find(([least]) => this.diameter(0) * this.spread >= least)[1];
    const diameters = [this.diameter(0), this.diameter(1)];
    return { diameters, rim, opacity, share, paper: styled("--paper") };
  }

  /** The more of the view points cover, the more transparent they are. */
  opacity(share) {
    const { width, height } = this.camera;
    const area = (Math.PI * (this.diameter(0) * this.spread) ** 2) / 4; // of a point, on average
    const covered = this.grid.count(this.camera.box()) * this.passing * share * area;
    return Math.min(1, Math.max(FAINTEST, (FILLED * width * height) / covered));
  }

  /** The width of a point of a size from 0 to 1, in pixels: points grow slowly as one zooms in. */
  diameter(size) {
    const usual = Math.min(13, Math.max(2.4, 40 / (this.nodes.count + 40) ** 0.25));
    const { left, right, bottom, top } = this.home;
    const covered = (right - left) * (top - bottom) * this.homeScale ** 2;
    const least = Math.max(2, usual * Math.min(1, Math.max(0.5, Math.sqrt(covered / USUAL))));
    const zoom = Math.max(1, this.camera.scale / this.homeScale);
    const grown = Math.min((least * Math.asinh(zoom)) / Math.asinh(1), 30);
    return grown * (1 + GROWTH * size);
  }

  /** Half the width of the point of a row on the screen. */
  radius(row) {
    return this.diameter(this.painted.size?.[row] ?? 0) / 2;
  }

  // -- positions -------------------------------------------------------------------------------

  /** The screen position of a row. */
  at(row) {
    return this.camera.toScreen(this.nodes.x[row], this.nodes.y[row]);
  }

  /** The screen position of a point of the map. */
  atPlace(x, y) {
    return this.camera.toScreen(x, y);
  }

  /** The rows in view, or null if there are more than `most`. */
  inView(most = Infinity) {
    const rows = [];
    this.grid.each(this.camera.box(), (row) => {
      if (this.isShown(row)) rows.push(row);
      return rows.length > most; // that is enough
    });
    return rows.length > most ? null : rows;
  }

  /** The row nearest to a screen position, -1 if none is near. */
  pick(x, y, near) {
    const reach = Math.max(near, this.diameter(1) / 2 + 2);
    let [best, nearest] = [-1, Infinity];
    this.grid.each(this.camera.box(x - reach, y - reach, x + reach, y + reach), (row) => {
      if (!this.isShown(row)) return;
      const [atX, atY] = this.at(row);
      const away = Math.hypot(atX - x, atY - y);
      if (away < nearest && away <= Math.max(near, this.radius(row) + 2)) [best, nearest] = [row, away];
    });
    return best;
  }

  /** The rows inside a path in pixels. */
  inside(path) {
    const [xs, ys] = [path.map(([x]) => x), path.map(([, y]) => y)];
    const corners = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    const rows = [];
    this.grid.each(this.camera.box(...corners), (row) => {
      if (this.isShown(row) && within(path, ...this.at(row))) rows.push(row);
    });
    return rows.sort((a, b) => a - b);
  }

  hover(row) {
    if (row === this.hovered) return;
    this.hovered = row;
    this.on.hover(row);
  }

  /** Whether dragging draws a lasso, rather than moving the map. */
  lasso(wanted) {
    this.lassoing = wanted;
    this.canvas.classList.toggle("lassoing", wanted);
    this.on.lasso?.(wanted);
  }

  drawLasso(path) {
    this.path = path;
    this.on.view();
  }

  // -- the view --------------------------------------------------------------------------------

  resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (!width || !height) return;
    Object.assign(this.camera, { width, height });
    this.camera.limits = [Math.min(width, height) / this.span.size / 8, CLOSEST / this.span.size];
    if (this.atHome) this.reset(false);
    else this.changed();
  }

  /** Change the camera at once, ending any flight. */
  move(change) {
    this.flight?.stop();
    this.flight = null;
    this.atHome = false;
    change();
    this.moved();
  }

  /** Draw what a movement has changed, and once more in full when it has ended. */
  moved() {
    this.moves = true;
    this.redraw();
    clearTimeout(this.rest);
    const movement = ++this.movements;
    const end = () => {
      if (movement !== this.movements) return;
      this.moves = false;
      this.redraw();
    };
    const frames = (left) => requestAnimationFrame(left ? () => frames(left - 1) : end);
    this.rest = setTimeout(() => frames(2), REST); // frames can take longer than the pause
  }

  /** Move to a view, smoothly unless the user prefers less motion. */
  async go(view, smoothly = true) {
    this.flight?.stop();
    this.flight = null;
    this.atHome = false;
    if (!smoothly || calm()) {
      Object.assign(this.camera, view);
      this.moves = false;
      this.draw();
      return;
    }
    const flight = fly(this.camera, view, () => this.moved());
    this.flight = flight;
    await flight.done;
    if (this.flight === flight) this.flight = null;
  }

  /** Show all nodes. */
  reset(smoothly = true) {
    const view = this.camera.holding(widened(this.home, MARGIN), this.free());
    this.homeScale = view.scale;
    const arrival = this.go(view, smoothly);
    this.atHome = true;
    return arrival;
  }

  /** Show these rows, beside the panels. */
  fit(rows, smoothly = true) {
    const box = boxOf(rows, this.nodes);
    const least = this.span.size * Math.min(0.5, Math.max(2 / Math.sqrt(this.nodes.count), 0.002));
    return this.go(this.camera.holding(widened(box, 1.3, least), this.free()), smoothly);
  }

  /** Move as little as needed for panels not to cover these rows, if there is room for them. */
  reveal(rows) {
    const free = this.free();
    const box = boxOf(rows, this.nodes);
    const [left, top] = this.atPlace(box.left, box.top);
    const [right, bottom] = this.atPlace(box.right, box.bottom);
    const { width, height } = this.camera;
    const by = [
      uncovering(left, right, free.left, width - free.right),
      uncovering(top, bottom, free.top, height - free.bottom),
    ];
    if (!by[0] && !by[1]) return Promise.resolve();
    const { x, y, scale } = this.camera;
    return this.go({ x: x - by[0] / scale, y: y + by[1] / scale, scale });
  }

  /** Move by a share of the view, or zoom by a factor, for keyboard control. */
  nudge(right, up, factor = 1) {
    const { width, height } = this.camera;
    this.move(() => {
      this.camera.pan(-right * width, up * height);
      this.camera.zoomAt(...this.freeMiddle(), factor);
    });
  }

  /** Zoom about the middle of what panels leave free. */
  zoom(factor) {
    return this.go(zoomed(this.camera, ...this.freeMiddle(), factor));
  }

  freeMiddle() {
    const { left, right, top, bottom } = this.free();
    return [(left + this.camera.width - right) / 2, (top + this.camera.height - bottom) / 2];
  }

  /** Whether contours of the density are drawn. */
  get density() {
    return this.showsContours;
  }

  set density(wanted) {
    this.showsContours = wanted;
    this.changed();
  }

  /** Whether all edges of what is in view are drawn, where they are few enough. */
  get edges() {
    return this.showsEdges;
  }

  set edges(wanted) {
    this.showsEdges = wanted;
    this.changed();
  }
}

/** The mean of diameters for sizes from 0 to 1, by area: a multiple of the smallest diameter. */
function spreadOf(size) {
  const sum = size.reduce((total, share) => total + (1 + GROWTH * share) ** 2, 0);
  return Math.sqrt(sum / size.length);
}

/** The selection after some rows were picked: Ctrl adds them, Alt takes them away. */
function combined(before, rows, event) {
  if (event.ctrlKey || event.metaKey) return [...new Set([...before, ...rows])];
  if (event.altKey) {
    const less = new Set(rows);
    return before.filter((row) => !less.has(row));
  }
  return rows;
}

/** The view after a zoom about a screen position. */
function zoomed(camera, x, y, factor) {
  const copy = Object.assign(new Camera(), camera);
  copy.zoomAt(x, y, factor);
  return { x: copy.x, y: copy.y, scale: copy.scale };
}

const EDGE = 40; // pixels that revealed rows keep from panels

/** By how many pixels to move a range, for it to lie between two sides; 0 if it has no room. */
function uncovering(first, last, low, high) {
  if (last - first > high - low) return 0;
  const edge = Math.min(EDGE, (high - low - (last - first)) / 2);
  if (first < low + edge) return low + edge - first;
  return Math.min(0, high - edge - last);
}

/** A box made larger around its middle; at least `least` along each side. */
function widened({ left, right, bottom, top }, factor, least = 0) {
  const [wide, high] = [right - left, top - bottom].map((side) => Math.max(side * factor, least) / 2);
  const [x, y] = [(left + right) / 2, (bottom + top) / 2];
  return { left: x - wide, right: x + wide, bottom: y - high, top: y + high };
}

/** The rectangle around rows. */
function boxOf(rows, { x, y }) {
  const box = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
  for (const row of rows) {
    box.left = Math.min(box.left, x[row]);
    box.right = Math.max(box.right, x[row]);
    box.bottom = Math.min(box.bottom, y[row]);
    box.top = Math.max(box.top, y[row]);
  }
  return box;
}

/** The square around all nodes. */
function extent(nodes) {
  const { left, right, bottom, top } = boxOf(nodes.x.keys(), nodes);
  const size = Math.max(right - left, top - bottom) || 1;
  return { left: (left + right - size) / 2, bottom: (bottom + top - size) / 2, size };
}

/** The rectangle around all nodes, without outliers if there are many nodes. */
function whereMostAre(nodes, size) {
  const beyond = Math.floor(nodes.count * FARTHEST);
  const [[left, right], [bottom, top]] = [nodes.x, nodes.y].map((values) => {
    const sorted = values.slice().sort();
    return [sorted[beyond], sorted[sorted.length - 1 - beyond]];
  });
  return widened({ left, right, bottom, top }, 1, size * 0.02);
}
