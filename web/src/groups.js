// Colourings of nodes: by groups (labels, communities) ranked by size, or by degree.

import { counted, written } from "./dom.js";

export const LISTED = 300; // groups in the legend; all smaller ones share one entry

/** The colourings of this map, by name, in the order of the menu. */
export function colourings(nodes) {
  const ways = new Map();
  if (nodes.label) ways.set("label", grouped(nodes, "Label", nodes.label, nodes.label_names));
  ways.set("community", grouped(nodes, "Community", nodes.community, null));
  if (nodes.degree) ways.set("degree", degrees(nodes.degree));
  return ways;
}

/** Groups ranked by size: the rank of each node; name, size and position of each rank. */
function grouped(nodes, title, number, names) {
  let most = -1;
  for (const group of number) most = Math.max(most, group);
  const sizes = new Uint32Array(most + 1);
  let without = 0;
  for (const group of number) group < 0 ? without++ : sizes[group]++;
  const order = [...sizes.keys()].filter((group) => sizes[group]);
  order.sort((a, b) => sizes[b] - sizes[a] || a - b);
  const ranks = new Int32Array(most + 1);
  order.forEach((group, rank) => (ranks[group] = Math.min(rank, LISTED)));
  const groups = order.slice(0, LISTED).map((group) => ({
    name: names ? names[group] : `Community ${group + 1}`,
    size: sizes[group],
  }));
  if (order.length > LISTED) {
    const rest = order.slice(LISTED);
    const size = rest.reduce((sum, group) => sum + sizes[group], 0);
    groups.push({ name: `${written(rest.length)} smaller ones`, size });
  }
  const rank = Int32Array.from(number, (group) => (group < 0 ? groups.length : ranks[group]));
  const unnamed = without ? groups.length : -1;
  if (without) groups.push({ name: `No ${title.toLowerCase()}`, size: without, without: true });
  places(nodes, rank, groups);
  const kinds = title === "Label" ? ["label"] : ["community", "communities"];
  return { title, rank, groups, unnamed, summary: counted(order.length, ...kinds) };
}

const CELLS = 40; // cells along each side of the grid that finds the densest spot of a group

/** The densest spot of each group: its name is written above. */
function places(nodes, rank, groups) {
  const span = extent(nodes);
  const column = (row) => Math.floor(((nodes.x[row] - span.left) / span.size) * (CELLS - 1e-3));
  const line = (row) => Math.floor(((nodes.y[row] - span.bottom) / span.size) * (CELLS - 1e-3));
  const shown = Math.min(groups.length, 60);
  const counts = Array.from({ length: shown }, () => new Uint32Array((CELLS + 2) ** 2));
  const cell = (row) => (line(row) + 1) * (CELLS + 2) + column(row) + 1;
  for (let row = 0; row < nodes.count; row++) {
    if (rank[row] < shown) counts[rank[row]][cell(row)]++;
  }
  const around = [-1, 0, 1].flatMap((up) => [-1, 0, 1].map((right) => up * (CELLS + 2) + right));
  const best = counts.map((count) => {
    let [spot, most] = [0, -1];
    for (let i = CELLS + 3; i < (CELLS + 2) * (CELLS + 1) - 1; i++) {
      if (!count[i]) continue;
      let sum = count[i]; // its own cell counts twice
      for (const step of around) sum += count[i + step];
      if (sum > most) [spot, most] = [i, sum];
    }
    return spot;
  });
  const sums = best.map(() => ({ x: 0, y: -Infinity, count: 0 }));
  for (let row = 0; row < nodes.count; row++) {
    if (rank[row] >= shown) continue;
    const away = cell(row) - best[rank[row]];
    if (!around.includes(away)) continue;
    const sum = sums[rank[row]];
    sum.x += nodes.x[row];
    sum.y = Math.max(sum.y, nodes.y[row]);
    sum.count++;
  }
  sums.forEach((sum, group) => {
    groups[group].x = sum.x / sum.count;
    groups[group].y = sum.y;
  });
}

/** The square that holds all nodes. */
export function extent(nodes) {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let row = 0; row < nodes.count; row++) {
    left = Math.min(left, nodes.x[row]);
    right = Math.max(right, nodes.x[row]);
    bottom = Math.min(bottom, nodes.y[row]);
    top = Math.max(top, nodes.y[row]);
  }
  const size = Math.max(right - left, top - bottom) || 1;
  return {
    left: (left + right - size) / 2,
    bottom: (bottom + top - size) / 2,
    size,
  };
}

/** Degrees on a logarithmic scale from 0 to 1. */
function degrees(degree) {
  let most = 1;
  for (const count of degree) most = Math.max(most, count);
  const share = Float32Array.from(degree, (count) => Math.log1p(count) / Math.log1p(most));
  return { title: "Degree", summary: "Degree", share, most };
}
