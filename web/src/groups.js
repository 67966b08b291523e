// Colourings of nodes: by categories that are ranked by size, or by numbers and times on a scale.

import { SHADES, groupLooks, noLook, scaleLooks } from "./colours.js";
import { counted, written } from "./dom.js";
import { mapped, scaleOf } from "./scales.js";

const LISTED = 300; // groups in the legend; all smaller ones share one entry

/** The columns that can give nodes a colour. */
export const colourable = (nodes) => nodes.columns.filter(({ kind }) => kind !== "text");

/** The column that colours nodes at first: one that tells groups apart, or communities. */
export function firstColouring(nodes) {
  const found = colourable(nodes);
  return found.find((column) => isTelling(column)) ?? nodes.column("community") ?? found[0];
}

const KNOWN = 0.1; // share of the nodes that have a value, at least
const SHARED = 2; // nodes of each category on average, at least

function isTelling({ kind, values, codes, low, high }) {
  const isKnown = codes ? (code) => code >= 0 : (value) => !Number.isNaN(value);
  const all = codes ?? values;
  const known = all.reduce((sum, one) => sum + (isKnown(one) ? 1 : 0), 0);
  if (known < KNOWN * all.length) return false;
  if (kind !== "category") return high > low;
  const groups = new Set(codes);
  groups.delete(-1);
  return groups.size > 1 && groups.size * SHARED <= known;
}

/** What is typical of a category, undefined if that is not known. */
export const typicalOf = ({ typical }, { name }, code) =>
  Object.hasOwn(typical, name) ? typical[name][code] : undefined;

/** The name of a category, with what is typical of it. */
export const nameOf = (nodes, column, code) =>
  [column.names[code], typicalOf(nodes, column, code)].filter(Boolean).join(": ");

/** The columns that can give nodes a size. */
export const sizeable = (nodes) => nodes.columns.filter(({ kind }) => kind === "number" || kind === "time");

/**
 * The colouring of a column: `codes` has the number of the look of each row. Categories have
 * `groups` by this number; numbers and times have a `scale`.
 */
export function colouring(nodes, column) {
  return column.kind === "category" ? grouped(nodes, column) : shaded(nodes, column);
}

/** The looks of a colouring: {colour, shape, alpha}; `lit` has the highlighted groups, or null. */
export const looksOf = (nodes, way, lit) =>
  way.groups ? groupLooks(nodes, way, lit) : [...scaleLooks(nodes), noLook(nodes)];

/** Groups ranked by size: the rank of each node; name and size of each rank. */
function grouped(nodes, column) {
  const { codes, names, title } = column;
  const sizes = new Uint32Array(names.length);
  let without = 0;
  for (const code of codes) code < 0 ? without++ : sizes[code]++;
  const order = [...sizes.keys()].filter((code) => sizes[code]);
  order.sort((a, b) => sizes[b] - sizes[a] || a - b);
  const ranks = new Uint16Array(names.length);
  order.forEach((code, rank) => (ranks[code] = Math.min(rank, LISTED)));
  const groups = order.slice(0, LISTED).map((code) => {
    const short = typicalOf(nodes, column, code) ?? names[code]; // on the map
    return { name: nameOf(nodes, column, code), short, size: sizes[code] };
  });
  if (order.length > LISTED) {
    const rest = order.slice(LISTED);
    const size = rest.reduce((sum, code) => sum + sizes[code], 0);
    groups.push({ name: `${written(rest.length)} smaller ones`, size });
  }
  const last = groups.length;
  if (without) groups.push({ name: `No ${title.toLowerCase()}`, size: without });
  const unnamed = without ? last : -1;
  const rank = mapped(Uint16Array, codes, (code) => (code < 0 ? last : ranks[code]));
  return { title, codes: rank, groups, unnamed, summary: summaryOf(column, order.length) };
}

const COUNTED = new Map([
  ["label", ["label"]],
  ["community", ["community", "communities"]],
]);

const summaryOf = ({ name, title }, count) =>
  COUNTED.has(name) ? counted(count, ...COUNTED.get(name)) : `${counted(count, "value")} of ${title}`;

/** Shades of numbers and times. */
function shaded(nodes, column) {
  const scale = scaleOf(column);
  const codes = mapped(Uint16Array, column.values, (value) =>
    Number.isNaN(value) ? SHADES : Math.round(scale.share(value) * (SHADES - 1)),
  );
  return { title: column.title, codes, scale, summary: column.title };
}

/** The sizes of nodes by a column from 0 to 1; those without a value are the smallest. */
export function sizesBy(column) {
  const { share } = scaleOf(column);
  return mapped(Float32Array, column.values, (value) => {
    if (Number.isNaN(value)) return 0;
    return column.log ? share(value) ** 2 : Math.sqrt(share(value));
  });
}
