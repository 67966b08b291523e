// The data of the page: a header in JSON and arrays of numbers. In a file they are gzipped and
// written as base64; a server sends them as they are, and answers questions about nodes.

const KINDS = {
  f4: Float32Array,
  f8: Float64Array,
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
};
const NOTHING = -32768; // in place of a missing cosine or score
const ALIGNED = 8; // arrays begin at multiples of so many bytes

/**
 * Read the data of the page from the element that holds them, or that names where to fetch them.
 * While they are fetched, `progress` is called with a share from 0 to 1.
 */
export async function readData(holder, progress = () => {}) {
  const { source } = holder.dataset;
  if (source) return nodesFrom(await fetched(source, progress));
  const packed = new Blob([bytesOf(holder.textContent.trim())]).stream();
  return nodesFrom(await gathered(packed.pipeThrough(new DecompressionStream("gzip"))));
}

async function fetched(address, progress) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return gathered(answer.body, Number(answer.headers.get("Content-Length")), progress);
}

/** All bytes of a stream; its length may be known. */
async function gathered(stream, length = 0, progress = () => {}) {
  if (!length) return new Uint8Array(await new Response(stream).arrayBuffer());
  const bytes = new Uint8Array(length);
  const reader = stream.getReader();
  let place = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes.set(value, place);
    place += value.length;
    progress(place / length);
  }
  if (place !== length) throw new Error("the server stopped sending the map");
  return bytes;
}

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

function nodesFrom(bytes) {
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const arrays = {};
  let offset = 4 + length;
  for (const [name, kind, count] of header.arrays) {
    offset = Math.ceil(offset / ALIGNED) * ALIGNED;
    const Kind = KINDS[kind];
    arrays[name] = header.planes
      ? joined(bytes.subarray(offset, offset + count * Kind.BYTES_PER_ELEMENT), Kind, count)
      : new Kind(bytes.buffer, offset, count);
    offset += count * Kind.BYTES_PER_ELEMENT;
  }
  return new Nodes(header, arrays);
}

/** Numbers stored as all first bytes, then all second ones, and so on: it compresses well. */
function joined(planes, Kind, count) {
  const numbers = new Kind(count);
  const bytes = new Uint8Array(numbers.buffer);
  const size = Kind.BYTES_PER_ELEMENT;
  for (let plane = 0; plane < size; plane++) {
    const from = plane * count;
    for (let i = 0; i < count; i++) bytes[i * size + plane] = planes[from + i];
  }
  return numbers;
}

/** The nodes on the map and their data, by row number. */
class Nodes {
  constructor(header, arrays) {
    const { columns, nodes, asks, ...rest } = header;
    Object.assign(this, rest); // title, ids, notes, looks, shapes, scale, typical, …: see _contents.py
    [this.x, this.y] = spread(arrays.x, arrays.y);
    this.total = nodes;
    this.count = header.ids.length;
    this.columns = columns.map((column, number) => new Column(column, number, arrays));
    this.rowOf = null;
    this.links = arrays.edge_ends ? linksOf(this.count, arrays) : null;
    this.source = asks ? new Asked(asks) : new Held(this, arrays);
  }

  /** The row of an id, -1 if it is not on the map. */
  row(id) {
    if (!this.rowOf) this.rowOf = new Map(this.ids.map((name, row) => [name, row]));
    return this.rowOf.get(id) ?? -1;
  }

  /** The column of a name, undefined if there is none. */
  column(name) {
    return this.columns.find((column) => column.name === name);
  }

  /**
   * What is known of a node: {similar: [{row, value, edge}], likely: [{row, value}] or null without
   * a graph, neighbours: [{title, found: [{row, weight}], total}]}. `edge` says whether a similar
   * node is linked already.
   */
  details(row) {
    return this.source.details(row);
  }

  /** The edges between some rows as [[from, to], …]; null if there are more than `most`. */
  edgesAmong(rows, most) {
    return this.source.edgesAmong(rows, most);
  }
}

const SPREAD = 500; // nodes of a map up to which those on one spot are moved apart
const APART = 0.016; // of the map

/** Positions, in a small map with nodes of one spot on a circle around it. */
function spread(x, y) {
  const count = x.length;
  if (count > SPREAD) return [x, y];
  const [wide, high] = [x, y].map((values) => Math.max(...values) - Math.min(...values));
  const size = Math.max(wide, high) || 1;
  const spots = []; // rows that are closer to each other than one can see
  for (let row = 0; row < count; row++) {
    const near = ([first]) => Math.hypot(x[first] - x[row], y[first] - y[row]) < (0.1 * size) / count;
    const spot = spots.find(near);
    if (spot) spot.push(row);
    else spots.push([row]);
  }
  const [right, up] = [x.slice(), y.slice()];
  for (const rows of spots.filter(({ length }) => length > 1)) {
    rows.forEach((row, i) => {
      const angle = Math.PI * (0.5 + (2 * i) / rows.length); // ids are written at the right
      const radius = APART * size * Math.max(1, rows.length / 6);
      right[row] = x[rows[0]] + radius * Math.cos(angle);
      up[row] = y[rows[0]] + radius * Math.sin(angle);
    });
  }
  return [right, up];
}

/** A column: the values of all nodes, which are numbers, times, texts, or categories. */
class Column {
  constructor(header, number, arrays) {
    Object.assign(this, header); // name, title, kind; low, high and log, or names, or texts
    const values = arrays[`column${number}`];
    if (this.kind === "category") {
      this.codes = values;
      this.setOf = arrays[`sets${number}`]; // the number of each node's set of categories
    } else if (this.kind !== "text") this.values = values;
  }

  /** All categories of a row. */
  codesOf(row) {
    if (this.sets) return this.sets[this.setOf[row]];
    return this.codes[row] < 0 ? [] : [this.codes[row]];
  }

  /** What a row has, as it is shown; "" for nothing. */
  text(row) {
    if (this.kind === "text") return this.texts[row];
    if (this.kind === "category") {
      return this.codesOf(row)
        .map((code) => this.names[code])
        .join(", ");
    }
    const value = this.values[row];
    if (Number.isNaN(value)) return "";
    if (this.kind === "time") return timeText(value, this.days);
    const size = Math.abs(value);
    const digits = size < 1e6 ? 6 : 15;
    const useGrouping = this.own || this.high >= 10_000; // 2019 may be a year
    const text = value.toLocaleString("en", { maximumSignificantDigits: digits, useGrouping });
    return text.replace("-", "−");
  }

  /** What a row has, as it is saved: a number, or text. */
  value(row) {
    if (this.numbered) return this.codes[row] < 0 ? "" : this.codes[row] + 1;
    if (this.kind !== "number") return this.text(row);
    const value = this.values[row];
    return Number.isNaN(value) ? "" : shortest(value, this.values);
  }
}

/** A time in seconds since 1970 as text, in UTC; `days` says that all times are dates. */
export function timeText(seconds, days) {
  const text = new Date(seconds * 1000).toISOString();
  if (days) return text.slice(0, text.indexOf("T"));
  return text
    .replace("T", " ")
    .replace(/(:00)?\.000Z$/, "")
    .replace("Z", "");
}

/** A number of an array with the fewest digits that identify it there. */
export function shortest(number, values) {
  if (!(values instanceof Float32Array)) return number;
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(number.toPrecision(digits));
    if (Math.fround(rounded) === number) return rounded;
  }
  return number;
}

// -- details of nodes ------------------------------------------------------------------------

/** Details that are in the page. */
class Held {
  constructor(nodes, arrays) {
    this.nodes = nodes;
    this.arrays = arrays;
    this.degree = nodes.column("degree")?.values;
  }

  async details(row) {
    const { nearest, cosines, linked, missing, scores } = this.arrays;
    const k = this.nodes.listed;
    const similar = ranked(nearest, cosines, 1000, k, row, linked); // some edges may be cut
    const likely = missing ? ranked(missing, scores, 100, k, row) : null;
    return { similar, likely, neighbours: this.neighbours(row) };
  }

  async edgesAmong(rows, most) {
    const { links, count } = this.nodes;
    if (!links) return [];
    const wanted = new Uint8Array(count);
    for (const row of rows) wanted[row] = 1;
    const found = [];
    for (const row of rows) {
      for (let i = links.starts[row]; i < links.starts[row + 1]; i++) {
        if (!wanted[links.ends[i]]) continue;
        if (found.length === most) return null;
        found.push([row, links.ends[i]]);
      }
    }
    return found;
  }

  /** Lists of graph neighbours with titles: one, or two in a directed graph. */
  neighbours(row) {
    const { links, directed } = this.nodes;
    if (!links) return [];
    const weights = this.arrays.edge_weights;
    const linked = (other, edge) => ({ row: other, weight: weights?.[edge] ?? null });
    const to = [];
    for (let i = links.starts[row]; i < links.starts[row + 1]; i++) {
      to.push(linked(links.ends[i], i));
    }
    const from = [];
    for (let i = links.backStarts[row]; i < links.backStarts[row + 1]; i++) {
      from.push(linked(links.begins[i], links.edges[i]));
    }
    const first = (a, b) => b.weight - a.weight || this.degree[b.row] - this.degree[a.row];
    if (directed) {
      const inward = this.nodes.column("in_degree").values[row];
      const outward = this.degree[row] - inward;
      return [
        { title: "Points to", found: to.sort(first), total: outward },
        { title: "Pointed to by", found: from.sort(first), total: inward },
      ];
    }
    const found = to.concat(from.filter((one) => one.row !== row)).sort(first);
    return [{ title: "Graph neighbours", found, total: this.degree[row] }];
  }
}

/** Details that the server works out when they are asked for. */
class Asked {
  constructor(address) {
    this.address = address;
    this.known = new Map(); // the details of the nodes that were asked for last
  }

  details(row) {
    if (!this.known.has(row)) {
      if (this.known.size > 100) this.known.delete(this.known.keys().next().value);
      const answer = answered(`${this.address}?row=${row}`);
      this.known.set(row, answer);
      answer.catch(() => this.known.delete(row));
    }
    return this.known.get(row);
  }

  edgesAmong(rows, most) {
    const body = Uint32Array.from(rows);
    return answered(`${this.address}?most=${most}`, { method: "POST", body });
  }
}

async function answered(address, options) {
  const answer = await fetch(address, options).catch(() => {
    throw new Error("The server of this page no longer answers: start it again.");
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** What is stored for a row: k others with values, and whether each is linked with the row. */
function ranked(rows, values, unit, k, row, linked = null) {
  const found = [];
  for (let i = row * k; i < (row + 1) * k; i++) {
    if (rows[i] < 0 || values[i] === NOTHING) continue;
    found.push({ row: rows[i], value: values[i] / unit, edge: linked?.[i] === 1 });
  }
  return found;
}

/** The edges by their first and by their second node; the page stores each once. */
function linksOf(count, arrays) {
  const { edge_counts: counts } = arrays;
  const ends = Int32Array.from(arrays.edge_ends); // stored as differences, in a type too small for sums
  for (let i = 1; i < ends.length; i++) ends[i] += ends[i - 1];
  const starts = new Uint32Array(count + 1);
  const backStarts = new Uint32Array(count + 1);
  for (let row = 0; row < count; row++) starts[row + 1] = starts[row] + counts[row];
  for (const end of ends) backStarts[end + 1]++;
  for (let row = 0; row < count; row++) backStarts[row + 1] += backStarts[row];
  const place = backStarts.slice();
  const begins = new Int32Array(ends.length); // the first node of each edge, ordered by the second
  const edges = new Int32Array(ends.length);
  for (let row = 0; row < count; row++) {
    for (let i = starts[row]; i < starts[row + 1]; i++) {
      begins[place[ends[i]]] = row;
      edges[place[ends[i]]++] = i;
    }
  }
  return { starts, ends, backStarts, begins, edges };
}
