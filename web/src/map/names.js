// Which groups to name on the map, and where: by the nodes in view, at any zoom.

const CELL = 36; // pixels along each side of the cells that find where a group is densest
const LEAST = 0.004; // of the nodes in view, for a group to be named
const SAMPLE = 200_000; // nodes that are looked at
const MOST = 60; // names

/**
 * The groups in view, those with most nodes in view first, as {group, count, x, y}: the place is the
 * middle of the densest spot of the group. `names` has null for groups that are not named.
 */
export function groupsInView(map, codes, names) {
  const { camera, grid, nodes } = map;
  const box = camera.box();
  const [wide, high] = [camera.width, camera.height].map((side) => Math.ceil(side / CELL) + 2);
  const every = Math.max(1, Math.floor(grid.count(box) / SAMPLE));
  const rows = [];
  let [passed, total] = [0, 0];
  const counts = new Map(); // group → nodes in each cell
  const cellOf = (row) => {
    const [x, y] = map.at(row);
    return (Math.floor(y / CELL) + 1) * wide + Math.floor(x / CELL) + 1;
  };
  grid.each(box, (row) => {
    if (passed++ % every || !map.isShown(row)) return;
    total++;
    const group = codes[row];
    if (names[group] == null) return;
    rows.push(row);
    if (!counts.has(group)) counts.set(group, new Uint32Array(wide * high));
    counts.get(group)[cellOf(row)]++;
  });
  const around = [-1, 0, 1].flatMap((down) => [-1, 0, 1].map((right) => down * wide + right));
  const found = new Map();
  for (const [group, cells] of counts) {
    const count = cells.reduce((sum, number) => sum + number, 0);
    if (count < LEAST * total) continue;
    found.set(group, { group, count, spot: densest(cells, wide, around), x: 0, y: 0, near: 0 });
  }
  for (const row of rows) {
    const entry = found.get(codes[row]);
    if (!entry || !around.includes(cellOf(row) - entry.spot)) continue;
    entry.x += nodes.x[row];
    entry.y += nodes.y[row];
    entry.near++;
  }
  return [...found.values()]
    .sort((a, b) => b.count - a.count || a.group - b.group)
    .slice(0, MOST)
    .map(({ group, count, x, y, near }) => ({ group, count, x: x / near, y: y / near }));
}

/** The cell with most nodes in it, which count twice, and in those around it. */
function densest(cells, wide, around) {
  let [best, most] = [0, -1];
  for (let cell = wide + 1; cell < cells.length - wide - 1; cell++) {
    if (!cells[cell]) continue;
    let sum = cells[cell];
    for (const step of around) sum += cells[cell + step];
    if (sum > most) [best, most] = [cell, sum];
  }
  return best;
}
