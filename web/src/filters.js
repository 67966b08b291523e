// The panel of filters: a range of each numeric column, categories to check, and a time slider.
// A node passes if it passes all of them; bars show the nodes that pass all the others.

import { byId, counted, make, say, written } from "./dom.js";
import { nameOf } from "./groups.js";
import { mapped, scaleOf } from "./scales.js";

const BINS = 32; // bars of a histogram
const NO_BIN = 255; // of nodes without a value
const STEPS = 200; // positions of a handle, unless whole numbers are fewer
const LISTED = 12; // categories listed at first
const MORE = 300; // listed by each click on "Show more"
const WINDOW = 0.1; // share of the time that is played at once, if the range is not narrowed
const FRAME = 180; // milliseconds between two steps of playing

/** The filters of all columns but texts. */
export class Filters {
  /** `changed` is called when other nodes pass. */
  constructor(nodes, changed) {
    Object.assign(this, { nodes, changed });
    this.failing = new Uint8Array(nodes.count); // how many filters each node fails
    this.filters = null; // made when the panel opens for the first time
    this.pending = 0;
  }

  /** How many filters are set. */
  get count() {
    return this.filters?.filter((filter) => filter.fails).length ?? 0;
  }

  /** Which rows pass, as bytes of 0 and 1; null if no filter is set. */
  get shown() {
    return this.count ? mapped(Uint8Array, this.failing, (fails) => (fails ? 0 : 1)) : null;
  }

  get passing() {
    let passing = 0;
    for (const fails of this.failing) if (!fails) passing++;
    return passing;
  }

  passes(row) {
    return !this.failing[row];
  }

  /** Make the panel, when it is needed. */
  open() {
    if (this.filters) return;
    const kinds = { category: CategoryFilter, number: RangeFilter, time: RangeFilter };
    const columns = this.nodes.columns.filter(({ kind }) => kind in kinds);
    this.filters = columns.map((column) => new kinds[column.kind](column, this));
    byId("filter-list").replaceChildren(...this.filters.map((filter) => filter.element));
    byId("clear-filters").addEventListener("click", () => {
      this.clear();
      byId("filters-title").focus();
    });
    this.update();
  }

  /** Let a filter fail rows: bytes of 0 and 1, or null if it is not set. */
  set(filter, fails) {
    for (const [bytes, sign] of [
      [filter.fails, -1],
      [fails, 1],
    ]) {
      if (bytes) for (let row = 0; row < bytes.length; row++) this.failing[row] += sign * bytes[row];
    }
    filter.fails = fails;
    this.pending ||= requestAnimationFrame(() => {
      this.pending = 0;
      this.update();
      this.changed();
    });
  }

  clear() {
    for (const filter of this.filters) filter.clear();
  }

  update() {
    for (const filter of this.filters) filter.count(this.failing);
    const { count, passing } = this;
    const all = counted(this.nodes.count, "node");
    const result = count ? `${written(passing)} of ${all}` : all;
    byId("passing").textContent = result;
    byId("clear-filters").disabled = !count;
    if (this.told !== result && this.told) say(`${result} pass the filters`);
    this.told = result;
  }
}

/** The part of the panel of a column. */
const block = (column, ...content) =>
  make("fieldset", { "data-column": column.name }, make("legend", column.title), ...content);

/** A range of numbers or times. */
class RangeFilter {
  constructor(column, filters) {
    Object.assign(this, { column, filters, fails: null });
    this.keeps = null; // whether nodes without a value pass; null: while the range is not narrowed
    this.scale = scaleOf(column);
    const { low, high, unit } = this.scale;
    const units = (high - low) / unit;
    const minutes = column.kind === "time" && high - low > 60 * STEPS;
    this.grain = unit || (minutes ? 60 : 0); // of the ends of the range, 0 for any
    this.exact = unit > 0 && !column.log && units <= STEPS; // a step for each whole number or day
    this.steps = this.exact ? Math.max(1, units) : STEPS;
    this.bins = Math.min(BINS, this.steps + (this.exact ? 1 : 0));
    this.bin = mapped(Uint8Array, column.values, (value) => this.binOf(value));
    this.bars = Array.from({ length: this.bins }, () => make("span", make("span")));
    this.from = this.handle("from", 0);
    this.to = this.handle("to", this.steps);
    this.text = make("output.muted");
    this.playing = 0;
    const onchange = () => {
      this.keeps = this.without.checked;
      this.apply();
    };
    this.without = make("input", { type: "checkbox", onchange });
    const without = this.bin.reduce((sum, bin) => sum + (bin === NO_BIN ? 1 : 0), 0);
    this.element = block(
      column,
      make("div.histogram", { "aria-hidden": "true" }, ...this.bars),
      make("div.range", this.from, this.to),
      make("div.range-text", this.text, column.kind === "time" && this.player()),
      without > 0 && make("label", this.without, `${written(without)} without a value`),
    );
    this.write();
  }

  binOf(value) {
    if (Number.isNaN(value)) return NO_BIN;
    const share = this.exact
      ? (value - this.scale.low) / this.scale.unit / (this.steps + 1)
      : this.scale.share(value);
    return Math.min(Math.floor(share * this.bins), this.bins - 1);
  }

  handle(end, step) {
    return make("input", {
      type: "range",
      min: 0,
      max: this.steps,
      value: step,
      "aria-label": `${this.column.title}, ${end}`,
      oninput: (event) => {
        this.pause();
        const [from, to] = [Number(this.from.value), Number(this.to.value)];
        if (from > to) event.target.value = end === "from" ? to : from; // handles do not cross
        this.apply();
      },
    });
  }

  /** Buttons that move the range through time. */
  player() {
    const button = (name, text, onclick) =>
      make("button", { "aria-label": name, title: name, onclick }, text);
    const step = (direction) => () => {
      this.pause();
      this.move(direction * Math.max(1, Math.round(this.width() / 2)));
    };
    this.play = button("Play", "▶", () => (this.playing ? this.pause() : this.start()));
    return make("div.player", button("Earlier", "‹", step(-1)), this.play, button("Later", "›", step(1)));
  }

  /** The steps of the range; of a window in it, if it is not narrowed. */
  width() {
    const width = this.to.value - this.from.value;
    return width < this.steps ? width : Math.max(1, Math.round(this.steps * WINDOW));
  }

  /** Move the range by some steps; returns whether it could. */
  move(by) {
    const width = this.width();
    const whole = this.to.value - this.from.value === this.steps;
    const before = whole ? (by > 0 ? -by : this.steps - width - by) : Number(this.from.value);
    const from = Math.max(0, Math.min(before + by, this.steps - width));
    if (!whole && from === before) return false;
    this.from.value = from;
    this.to.value = from + width;
    this.apply();
    return true;
  }

  start() {
    if (Number(this.to.value) === this.steps && this.fails) {
      const width = this.width(); // again from the beginning
      this.from.value = 0;
      this.to.value = width;
    }
    const step = Math.max(1, Math.round(this.steps / 100));
    this.playing = setInterval(() => this.move(step) || this.pause(), FRAME);
    this.move(step);
    this.play.textContent = "❚❚";
    this.play.ariaLabel = this.play.title = "Pause";
  }

  pause() {
    if (!this.playing) return;
    clearInterval(this.playing);
    this.playing = 0;
    this.play.textContent = "▶";
    this.play.ariaLabel = this.play.title = "Play";
  }

  /** The value at a step, as it is written; the ends are exact. */
  at(step) {
    const { low, high, value } = this.scale;
    if (step === 0 || step === this.steps) return step ? high : low;
    const between = value(step / this.steps);
    return this.grain ? Math.round(between / this.grain) * this.grain : between;
  }

  /** The steps of both handles. */
  ends() {
    return [this.from, this.to].map((handle) => Number(handle.value));
  }

  /** Whether the range is not narrowed. */
  isWhole() {
    const [from, to] = this.ends();
    return from === 0 && to === this.steps;
  }

  apply() {
    this.write();
    const { values } = this.column;
    const keeps = this.keeps ?? this.isWhole();
    if (this.isWhole() && keeps) return this.filters.set(this, null);
    const [low, high] = this.ends().map((step) => this.at(step));
    const passes = (value) => (Number.isNaN(value) ? keeps : value >= low && value <= high);
    const fails = (value) => (passes(value) ? 0 : 1);
    this.filters.set(this, mapped(Uint8Array, values, fails));
  }

  write() {
    const ends = this.ends();
    const texts = ends.map((step) => this.scale.text(this.at(step)));
    this.text.textContent = texts[0] === texts[1] ? texts[0] : texts.join(" – ");
    this.from.setAttribute("aria-valuetext", texts[0]);
    this.to.setAttribute("aria-valuetext", texts[1]);
    this.without.checked = this.keeps ?? this.isWhole();
    this.from.classList.toggle("upper", ends[0] > this.steps / 2);
    const { style } = this.from.parentElement ?? this.from;
    style.setProperty("--from", ends[0] / this.steps);
    style.setProperty("--to", ends[1] / this.steps);
  }

  /** Show how many nodes each bar has, of all and of those that pass. */
  count(failing) {
    const [all, passing] = [new Uint32Array(NO_BIN + 1), new Uint32Array(NO_BIN + 1)];
    this.bin.forEach((bin, row) => {
      all[bin]++;
      if (failing[row] === (this.fails?.[row] ?? 0)) passing[bin]++;
    });
    const most = Math.max(...all.subarray(0, this.bins), 1);
    const [first, last] = this.ends().map((step) => this.binOf(this.at(step)));
    this.bars.forEach((bar, bin) => {
      bar.style.height = `${(all[bin] / most) * 100}%`;
      bar.firstChild.style.height = all[bin] ? `${(passing[bin] / all[bin]) * 100}%` : 0;
      bar.classList.toggle("out", bin < first || bin > last);
    });
  }

  clear() {
    this.pause();
    this.keeps = null;
    this.from.value = 0;
    this.to.value = this.steps;
    this.apply();
  }
}

/** Categories to check; without a check, all pass. */
class CategoryFilter {
  constructor(column, filters) {
    Object.assign(this, { column, filters, fails: null });
    this.wanted = new Set();
    this.none = column.names.length; // in place of the category of nodes without one
    this.sizes = this.sizesOf(() => true);
    const { sizes } = this;
    const order = [...sizes.keys()].filter((code) => sizes[code] && code !== this.none);
    order.sort((a, b) => sizes[b] - sizes[a] || a - b);
    const first = [...order.slice(0, LISTED), ...(sizes[this.none] ? [this.none] : [])];
    this.list = make("ul", ...first.map((code) => this.entry(code)));
    this.element = block(column, this.list, this.more(order.slice(LISTED)));
  }

  entry(code) {
    const { column, filters } = this;
    const name =
      code === this.none ? `No ${column.title.toLowerCase()}` : nameOf(filters.nodes, column, code);
    const change = (event) => {
      if (event.target.checked) this.wanted.add(code);
      else this.wanted.delete(code);
      this.apply();
    };
    return make(
      "li",
      { "data-code": code },
      make(
        "label",
        { title: name },
        make("input", { type: "checkbox", onchange: change }),
        make("span.name", name),
        make("span.muted.number"),
        make("span.meter", make("span")),
      ),
    );
  }

  more(codes) {
    if (!codes.length) return null;
    const button = make("button.more");
    const next = codes.slice(0, MORE);
    const left = codes.length > MORE ? ` of ${written(codes.length)}` : "";
    button.textContent = `Show ${written(next.length)}${left} more`;
    button.addEventListener("click", () => {
      const entries = next.map((code) => this.entry(code));
      this.list.append(...entries);
      button.replaceWith(this.more(codes.slice(MORE)) ?? "");
      this.count(this.filters.failing);
      entries[0].querySelector("input").focus();
    });
    return button;
  }

  apply() {
    const { column, wanted, filters, none } = this;
    if (!wanted.size) return filters.set(this, null);
    const fails = new Uint8Array(filters.nodes.count);
    for (let row = 0; row < fails.length; row++) {
      const passes = column.sets
        ? this.codesOf(row).some((code) => wanted.has(code))
        : wanted.has(column.codes[row] < 0 ? none : column.codes[row]);
      fails[row] = passes ? 0 : 1;
    }
    filters.set(this, fails);
  }

  /** The categories of a row, or what stands for none. */
  codesOf(row) {
    const codes = this.column.codesOf(row);
    return codes.length ? codes : [this.none];
  }

  /** How many rows that pass a test each category has; the last number is of those without one. */
  sizesOf(passes) {
    const { column, filters, none } = this;
    const sizes = new Uint32Array(none + 1);
    for (let row = 0; row < filters.nodes.count; row++) {
      if (!passes(row)) continue;
      if (column.sets) for (const code of this.codesOf(row)) sizes[code]++;
      else sizes[column.codes[row] < 0 ? none : column.codes[row]]++;
    }
    return sizes;
  }

  count(failing) {
    const passing = this.sizesOf((row) => failing[row] === (this.fails?.[row] ?? 0));
    const most = this.sizes.reduce((a, b) => Math.max(a, b), 1);
    for (const entry of this.list.children) {
      const code = Number(entry.dataset.code);
      entry.querySelector(".number").textContent = written(passing[code]);
      entry.querySelector(".meter").firstChild.style.width = `${(passing[code] / most) * 100}%`;
    }
  }

  clear() {
    this.wanted.clear();
    for (const box of this.list.querySelectorAll("input")) box.checked = false;
    this.apply();
  }
}
