// The data of the page: a header in JSON and arrays of numbers, gzipped, as base64.

const KINDS = {
  f4: Float32Array,
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
};
export const NOTHING = -32768; // in place of a missing cosine or score

/** Read the data of the page. */
export async function readData(text) {
  const packed = new Blob([bytesOf(text.trim())]).stream();
  const stream = packed.pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const arrays = {};
  let offset = 4 + length;
  for (const [name, kind, count] of header.arrays) {
    const size = KINDS[kind].BYTES_PER_ELEMENT * count;
    arrays[name] = gathered(bytes.subarray(offset, offset + size), KINDS[kind], count);
    offset += size;
  }
  return new Nodes(header, arrays);
}

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** Numbers stored as all first bytes, then all second ones, and so on: it compresses well. */
function gathered(planes, Kind, count) {
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
    Object.assign(this, header); // title, ids, notes, …: see _data.py
    Object.assign(this, arrays); // x, y, nearest, cosines, community, degree, …
    this.total = header.nodes;
    this.count = header.ids.length;
    this.rowOf = null;
    this.links = arrays.edge_ends ? linksOf(this.count, arrays) : null;
  }

  /** The row of an id, -1 if it is not on the map. */
  row(id) {
    if (!this.rowOf) this.rowOf = new Map(this.ids.map((name, row) => [name, row]));
    return this.rowOf.get(id) ?? -1;
  }

  /** The number of a row's community, as it is shown; "" if it has none. */
  communityText(row) {
    return this.community[row] < 0 ? "" : String(this.community[row] + 1);
  }

  /** The labels of a row as text, "" if it has none. */
  labelText(row) {
    return this.labelsOf(row)
      .map((label) => this.label_names[label])
      .join(", ");
  }

  /** All labels of a row. */
  labelsOf(row) {
    if (this.label_sets) return this.label_sets[this.label_set[row]];
    return this.label[row] < 0 ? [] : [this.label[row]];
  }

  /** The most similar nodes of one, as [{row, value}]. */
  similar(row) {
    return ranked(this.nearest, this.cosines, 1000, this.listed, row);
  }

  /** The likely missing links of a node, as [{row, value}]; null without a graph. */
  likely(row) {
    return this.missing ? ranked(this.missing, this.scores, 100, this.listed, row) : null;
  }

  /** The targets of edges of a node, as [{row, weight}]. */
  targets(row) {
    const { starts, ends } = this.links;
    const found = [];
    for (let i = starts[row]; i < starts[row + 1]; i++) found.push(this.linked(ends[i], i));
    return found;
  }

  /** The sources of edges to a node. */
  sources(row) {
    const { backStarts, begins, edges } = this.links;
    const found = [];
    for (let i = backStarts[row]; i < backStarts[row + 1]; i++) {
      found.push(this.linked(begins[i], edges[i]));
    }
    return found;
  }

  linked(row, edge) {
    return { row, weight: this.edge_weights?.[edge] ?? null };
  }

  /** Lists of graph neighbours with titles: one, or two in a directed graph. */
  neighbours(row) {
    if (!this.links) return [];
    const first = (a, b) => b.weight - a.weight || this.degree[b.row] - this.degree[a.row];
    const [to, from] = [this.targets(row), this.sources(row)];
    if (this.directed) {
      const inward = this.in_degree[row];
      const back = { title: "Pointed to by", found: from.sort(first), total: inward };
      return [
        { title: "Points to", found: to.sort(first), total: this.degree[row] - inward },
        back,
      ];
    }
    const found = to.concat(from.filter((one) => one.row !== row)).sort(first);
    return [{ title: "Graph neighbours", found, total: this.degree[row] }];
  }
}

function ranked(rows, values, unit, k, row) {
  const found = [];
  for (let i = row * k; i < (row + 1) * k; i++) {
    if (rows[i] >= 0 && values[i] !== NOTHING)
      found.push({ row: rows[i], value: values[i] / unit });
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
