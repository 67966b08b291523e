// The selection as a file.

const COLUMNS = ["id", "x", "y", "label", "degree", "community"];

/** The data of rows, as objects with the columns of this map. */
export function table(nodes, rows) {
  return rows.map((row) => {
    const entry = { id: nodes.ids[row], x: short(nodes.x[row]), y: short(nodes.y[row]) };
    if (nodes.label) entry.label = nodes.labelText(row);
    if (nodes.degree) entry.degree = nodes.degree[row];
    entry.community = nodes.communityText(row);
    return entry;
  });
}

/** A float32 with the fewest digits that identify it. */
function short(number) {
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(number.toPrecision(digits));
    if (Math.fround(rounded) === number) return rounded;
  }
  return number;
}

/** Quote text that a spreadsheet would run as a formula; numbers stay numbers. */
const unrun = (text) => (/^[=+\-@\t\r]/.test(text) && isNaN(text) ? `'${text}` : text);

/** Rows as CSV (RFC 4180). */
export function csv(nodes, rows) {
  const entries = table(nodes, rows);
  const columns = COLUMNS.filter((name) => entries.length && name in entries[0]);
  const field = (value) => {
    const text = unrun(String(value));
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = entries.map((entry) => columns.map((name) => field(entry[name])).join(","));
  return `${[columns.join(","), ...lines].join("\r\n")}\r\n`;
}

/** Rows as JSON. */
export const json = (nodes, rows) => `${JSON.stringify(table(nodes, rows), null, 1)}\n`;

/** Let the browser save a text as a file. */
export function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
