// The search field: ids, then categories, then texts of all columns.

import { byId, counted, make, say } from "./dom.js";
import { nameOf } from "./groups.js";

const SUGGESTIONS = 12; // nodes
const CATEGORIES = 4; // suggested as a whole
const ENOUGH = 5000; // matches within words, before the search ends
const AROUND = 24; // characters of a text before the match

/** Finds nodes by their ids, categories and texts. */
class Finder {
  constructor(nodes) {
    this.nodes = nodes;
    this.ids = null; // in lower case, once something is searched for
  }

  /** Words in lower case, made once for ids and once for each text column. */
  prepare() {
    if (this.ids) return;
    const lower = (texts) => texts.map((text) => text.toLowerCase());
    this.ids = lower(this.nodes.ids);
    const { columns } = this.nodes;
    this.texts = columns
      .filter(({ kind }) => kind === "text")
      .map((column) => ({ column, words: lower(column.texts) }));
    this.categories = columns
      .filter(({ kind }) => kind === "category")
      .map((column) => ({
        column,
        words: lower(column.names.map((_, code) => nameOf(this.nodes, column, code))),
      }));
  }

  /**
   * What matches a text: nodes by id (the id itself, those that begin with it, those that contain
   * it; shorter first), categories, and nodes by text. A node is {row} or {row, column, at}.
   */
  find(text) {
    this.prepare();
    const wanted = text.trim().toLowerCase();
    if (!wanted) return { nodes: [], categories: [] };
    const rows = this.byId(wanted, text.trim());
    const found = new Set(rows);
    const nodes = rows.slice(0, SUGGESTIONS).map((row) => ({ row }));
    for (const { column, words } of this.texts) {
      for (let row = 0; row < words.length && nodes.length < SUGGESTIONS; row++) {
        const at = found.has(row) ? -1 : words[row].indexOf(wanted);
        if (at < 0) continue;
        found.add(row);
        nodes.push({ row, column, at, length: wanted.length });
      }
    }
    return { nodes, categories: this.byCategory(wanted) };
  }

  byId(wanted, typed) {
    const { ids } = this.nodes;
    const [exact, begins, parts] = [[], [], []];
    for (let row = 0; row < this.ids.length; row++) {
      const at = this.ids[row].indexOf(wanted);
      if (at < 0) continue;
      if (this.ids[row].length === wanted.length) exact.push(row);
      else if (at === 0) begins.push(row);
      else if (parts.length < ENOUGH) parts.push(row);
    }
    const shorter = (a, b) => this.ids[a].length - this.ids[b].length || a - b;
    const same = (row) => ids[row] === typed;
    exact.sort((a, b) => same(b) - same(a) || a - b);
    return [...exact, ...begins.sort(shorter), ...parts.sort(shorter)];
  }

  byCategory(wanted) {
    const found = [];
    for (const { column, words } of this.categories) {
      words.forEach((word, code) => {
        const at = word.indexOf(wanted);
        if (at >= 0) found.push({ column, code, at, length: word.length });
      });
    }
    found.sort((a, b) => a.at - b.at || a.length - b.length);
    return found
      .slice(0, CATEGORIES)
      .map(({ column, code }) => ({
        column,
        name: nameOf(this.nodes, column, code),
        rows: rowsOf(column, code, this.nodes.count),
      }));
  }
}

function rowsOf(column, code, count) {
  const rows = [];
  for (let row = 0; row < count; row++) if (column.codesOf(row).includes(code)) rows.push(row);
  return rows;
}

/**
 * Make the field suggest nodes and categories. `act` has describe(row), passes(row), and
 * choose(rows), which is called with what is picked.
 */
export function setUpSearch(nodes, act) {
  const finder = new Finder(nodes);
  const field = byId("search");
  const list = byId("suggestions");
  let choices = []; // functions that pick the suggestions
  let active = 0;

  const close = () => {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const mark = (number) => {
    active = number;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === active));
    list.children[active]?.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", `suggestion-${active}`);
  };
  const option = (kind, pick, ...content) => {
    const number = choices.push(pick) - 1;
    const attributes = {
      role: "option",
      id: `suggestion-${number}`,
      class: kind,
      onmousedown: (event) => event.preventDefault(), // the field keeps the focus
      onclick: pick,
    };
    return make("li", attributes, ...content);
  };
  const nodeOption = ({ row, column, at, length }) =>
    option(
      act.passes(row) ? "node" : "node filtered",
      () => {
        field.value = nodes.ids[row];
        close();
        act.choose([row]);
      },
      make("span.id", nodes.ids[row]),
      make(
        "span.muted",
        ...(column ? excerpt(column, row, at, length) : [act.describe(row)]),
        act.passes(row) ? "" : " (filtered out)",
      ),
    );
  const categoryOption = ({ column, name, rows }) =>
    option(
      "category",
      () => {
        close();
        act.choose(rows);
      },
      make("span.name", name),
      make("span.muted", `${column.title} · ${counted(rows.length, "node")}`),
    );
  const suggest = () => {
    choices = [];
    const { nodes: found, categories } = finder.find(field.value);
    const text = found.findIndex(({ column }) => column);
    const ids = text < 0 ? found.length : text; // nodes that were found by their ids
    const items = [
      ...found.slice(0, ids).map(nodeOption),
      ...categories.map(categoryOption),
      ...found.slice(ids).map(nodeOption),
    ];
    list.replaceChildren(...items);
    list.hidden = !items.length;
    const nothing = !items.length && Boolean(field.value.trim());
    byId("no-match").hidden = !nothing;
    field.setAttribute("aria-expanded", String(Boolean(items.length)));
    if (nothing) say("Nothing contains this text.");
    else if (items.length) say(counted(items.length, "suggestion"));
    if (items.length) mark(0);
  };

  field.addEventListener("input", suggest);
  field.addEventListener("focus", () => {
    field.select();
    if (field.value) suggest();
  });
  field.addEventListener("blur", () => {
    close();
    byId("no-match").hidden = true;
  });
  field.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && choices.length) {
      event.preventDefault();
      mark((active + steps[event.key] + choices.length) % choices.length);
    } else if (event.key === "Enter") {
      if (list.hidden) suggest();
      choices[Math.min(active, choices.length - 1)]?.();
    } else if (event.key === "Escape") {
      event.preventDefault(); // leave the field to us
      if (list.hidden) byId("points").focus();
      field.value = "";
      close();
    }
  });
  return { show: (row) => (field.value = row < 0 ? "" : nodes.ids[row]) };
}

/** The part of a text around a match, with the title of its column. */
function excerpt(column, row, at, length) {
  const text = column.texts[row];
  const from = Math.max(0, at - AROUND);
  return [
    `${column.title}: ${from ? "…" : ""}${text.slice(from, at)}`,
    make("mark", text.slice(at, at + length)),
    text.slice(at + length, at + length + 60),
  ];
}
