// The search field: ids that begin with the text, then those that contain it.

import { byId, make } from "./dom.js";

const SUGGESTIONS = 12;

/** Finds rows by parts of their ids. */
export class Finder {
  constructor(ids) {
    this.words = ids.map((id) => id.toLowerCase());
    this.ids = ids;
  }

  /** The best matches of a text: the id itself, then prefixes, then parts; shorter first. */
  find(text, most = SUGGESTIONS) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const [exact, begins, parts] = [[], [], []];
    for (let row = 0; row < this.words.length; row++) {
      const at = this.words[row].indexOf(wanted);
      if (at < 0) continue;
      if (this.words[row].length === wanted.length) exact.push(row);
      else if (at === 0) begins.push(row);
      else if (parts.length < 5000) parts.push(row);
    }
    const shorter = (a, b) => this.words[a].length - this.words[b].length || a - b;
    const same = (row) => this.ids[row] === text.trim();
    exact.sort((a, b) => same(b) - same(a) || a - b);
    return [...exact, ...begins.sort(shorter), ...parts.sort(shorter)].slice(0, most);
  }
}

/** Make the field suggest rows, and call `choose` with the one that is picked. */
export function setUpSearch(nodes, describe, choose) {
  const finder = new Finder(nodes.ids);
  const field = byId("search");
  const list = byId("suggestions");
  let rows = [];
  let active = 0;

  const close = () => {
    list.hidden = true;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const pick = (row) => {
    field.value = nodes.ids[row];
    close();
    choose(row);
  };
  const mark = (number) => {
    active = number;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === active));
    list.children[active]?.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", `suggestion-${active}`);
  };
  const suggest = () => {
    rows = finder.find(field.value);
    const items = rows.map((row, i) =>
      make(
        "li",
        {
          role: "option",
          id: `suggestion-${i}`,
          onmousedown: (event) => event.preventDefault(), // the field keeps the focus
          onclick: () => pick(row),
        },
        make("span", { class: "id" }, nodes.ids[row]),
        make("span", { class: "muted" }, describe(row)),
      ),
    );
    if (!rows.length && field.value.trim()) {
      items.push(make("li", { class: "muted none" }, "No node id contains this text."));
    }
    list.replaceChildren(...items);
    list.hidden = !items.length;
    field.setAttribute("aria-expanded", String(Boolean(items.length)));
    if (rows.length) mark(0);
  };

  field.addEventListener("input", suggest);
  field.addEventListener("focus", () => {
    field.select();
    if (field.value) suggest();
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps && rows.length) {
      event.preventDefault();
      mark((active + steps[event.key] + rows.length) % rows.length);
    } else if (event.key === "Enter") {
      if (list.hidden) suggest();
      if (rows.length) pick(rows[Math.min(active, rows.length - 1)]);
    } else if (event.key === "Escape") {
      field.value = "";
      close();
      byId("points").focus();
    }
  });
  return { show: (row) => (field.value = row < 0 ? "" : nodes.ids[row]) };
}
