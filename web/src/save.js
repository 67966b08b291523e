// The selection as a file.

import { shortest } from "./data.js";

/** The names of all columns of this map. */
const heads = (nodes) => ["id", "x", "y", ...nodes.columns.map(({ name }) => name)];

/** The values of a row in these columns. */
const cells = (nodes, row) => [
  nodes.ids[row],
  shortest(nodes.x[row], nodes.x),
  shortest(nodes.y[row], nodes.y),
  ...nodes.columns.map((column) => column.value(row)),
];

/** Quote text that a spreadsheet would run as a formula; numbers stay numbers. */
const unrun = (text) => (/^[=+\-@\t\r]/.test(text) && isNaN(text) ? `'${text}` : text);

/** Rows as CSV (RFC 4180). */
export function csv(nodes, rows) {
  const field = (value) => {
    const text = unrun(String(value));
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [heads(nodes), ...rows.map((row) => cells(nodes, row))];
  return lines.map((line) => `${line.map(field).join(",")}\r\n`).join("");
}

/** Rows as JSON. */
export function json(nodes, rows) {
  const names = heads(nodes);
  const entry = (row) => Object.fromEntries(cells(nodes, row).map((cell, i) => [names[i], cell]));
  return `${JSON.stringify(rows.map(entry), null, 1)}\n`;
}

/** Let the browser save text or a Blob as a file. */
export function download(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
