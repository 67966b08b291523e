// Contours of the density of points: lines around the densest part that holds a share of them.

const CELL = 6; // pixels along each side of a cell
const AROUND = 12; // cells beyond each side of the view, so that lines leave it as they should
const BLUR = 2; // cells to each side over which a moving average runs, three times
const SAMPLE = 300_000; // points that are counted
const FEW = 1000; // with fewer points in view there are none
const SHARES = [0.9, 0.7, 0.5, 0.3, 0.1]; // of the points in view, within a line

/** The contours of what is in view by level: lists of lines, each a list of [x, y] of the map. */
export function contoursInView(map) {
  const { camera, grid, nodes } = map;
  const [wide, high] = [camera.width, camera.height].map((s) => Math.ceil(s / CELL) + 2 * AROUND);
  const beyond = AROUND * CELL;
  const box = camera.box(-beyond, -beyond, (wide - AROUND) * CELL, (high - AROUND) * CELL);
  const counts = new Float32Array(wide * high);
  const perUnit = camera.scale / CELL;
  const every = Math.max(1, Math.floor(grid.count(box) / SAMPLE));
  let [passed, total] = [0, 0];
  grid.each(box, (row) => {
    if (passed++ % every || !map.isShown(row)) return;
    const column = Math.min(Math.floor((nodes.x[row] - box.left) * perUnit), wide - 1);
    const line = Math.min(Math.floor((box.top - nodes.y[row]) * perUnit), high - 1);
    counts[line * wide + column]++;
    total++;
  });
  if (total < FEW) return [];
  const density = smoothed(counts, wide, high);
  const place = ([column, line]) => [box.left + (column + 0.5) / perUnit, box.top - (line + 0.5) / perUnit];
  return levelsOf(density).map((level) => linesAt(density, wide, high, level).map((line) => line.map(place)));
}

/** Three moving averages along each axis: nearly a Gaussian. */
function smoothed(values, wide, high) {
  let [from, to] = [values, new Float32Array(values.length)];
  for (let pass = 0; pass < 3; pass++) {
    for (let line = 0; line < high; line++) average(from, to, line * wide, 1, wide);
    for (let column = 0; column < wide; column++) average(to, from, column, wide, high);
  }
  return from;
}

function average(from, to, start, step, count) {
  let sum = 0;
  for (let i = 0; i < Math.min(BLUR, count); i++) sum += from[start + i * step];
  for (let i = 0; i < count; i++) {
    if (i + BLUR < count) sum += from[start + (i + BLUR) * step];
    if (i > BLUR) sum -= from[start + (i - BLUR - 1) * step];
    to[start + i * step] = sum / (2 * BLUR + 1);
  }
}

/** The densities above which cells hold the shares. */
function levelsOf(density) {
  const sorted = density.slice().sort();
  const total = sorted.reduce((sum, value) => sum + value, 0);
  const levels = [];
  let sum = total;
  let next = 0;
  for (const value of sorted) {
    while (next < SHARES.length && sum <= SHARES[next] * total) {
      levels.push(value);
      next++;
    }
    sum -= value;
  }
  return levels;
}

// The sides of a cell that lines cross, by which of its corners are above the level (1: top left,
// 2: top right, 4: bottom right, 8: bottom left); pairs of sides, 0 being the top and 1 the right.
const CROSSED = [
  ...[[], [3, 0], [0, 1], [3, 1], [1, 2], [3, 0, 1, 2], [0, 2], [3, 2]],
  ...[[2, 3], [2, 0], [0, 1, 2, 3], [2, 1], [1, 3], [1, 0], [0, 3], []],
]; // prettier-ignore

/** The lines at a level (marching squares), as lists of [column, line]. */
function linesAt(density, wide, high, level) {
  const links = new Map(); // side → the sides that lines lead to
  const link = (one, other) => (links.get(one) ?? links.set(one, []).get(one)).push(other);
  for (let line = 0; line < high - 1; line++) {
    for (let column = 0; column < wide - 1; column++) {
      const at = line * wide + column;
      const kind =
        (density[at] > level) +
        2 * (density[at + 1] > level) +
        4 * (density[at + wide + 1] > level) +
        8 * (density[at + wide] > level);
      const sides = CROSSED[kind];
      const ids = [2 * at, 2 * (at + 1) + 1, 2 * (at + wide), 2 * at + 1]; // even: along a line
      for (let i = 0; i < sides.length; i += 2) {
        link(ids[sides[i]], ids[sides[i + 1]]);
        link(ids[sides[i + 1]], ids[sides[i]]);
      }
    }
  }
  const point = (side) => {
    const [at, downward] = [side >> 1, side & 1];
    const other = at + (downward ? wide : 1);
    const part = (level - density[at]) / (density[other] - density[at]);
    const [column, line] = [at % wide, Math.floor(at / wide)];
    return downward ? [column, line + part] : [column + part, line];
  };
  const ends = [...links.keys()].filter((side) => links.get(side).length === 1);
  const lines = [];
  for (const start of [...ends, ...links.keys()]) {
    if (!links.get(start).length) continue;
    lines.push(walked(links, start).map(point));
  }
  return lines;
}

/** The sides from one on, each link used once; closed lines end where they began. */
function walked(links, start) {
  const path = [start];
  for (let side = start; links.get(side).length;) {
    const next = links.get(side).pop();
    const back = links.get(next);
    back.splice(back.indexOf(side), 1);
    path.push(next);
    side = next;
  }
  return path;
}
