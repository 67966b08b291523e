// Shapes of points. One outline for each serves WebGL, canvas and SVG: a circle, or a polygon whose
// area is that of the circle, so that no group looks larger than another.

const REACH = 1.6; // no corner is farther from the middle, in radii of the circle

/** A polygon with corners at equal angles, at distances that repeat. */
const corners = (count, distances = [1], turn = 0) =>
  Array.from({ length: count }, (_, i) => {
    const angle = 2 * Math.PI * (i / count + turn);
    const away = distances[i % distances.length];
    return [away * Math.sin(angle), -away * Math.cos(angle)]; // the first one is at the top
  });

const ARM = 0.34; // half the width of the arms of a plus
const PLUS = [
  ...[[-ARM, -1], [ARM, -1], [ARM, -ARM], [1, -ARM], [1, ARM], [ARM, ARM]],
  ...[[ARM, 1], [-ARM, 1], [-ARM, ARM], [-1, ARM], [-1, -ARM], [-ARM, -ARM]],
]; // prettier-ignore
const turned = (points) => points.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]);

const OUTLINES = {
  circle: null,
  triangle: corners(3),
  square: corners(4, [1], 1 / 8),
  diamond: corners(4, [1.25, 0.85]),
  "triangle-down": corners(3, [1], 1 / 2),
  "triangle-left": corners(3, [1], 3 / 4),
  "triangle-right": corners(3, [1], 1 / 4),
  plus: PLUS,
  cross: turned(PLUS),
  star: corners(10, [1, 0.45]),
  pentagon: corners(5),
  hexagon: corners(6),
  octagon: corners(8, [1], 1 / 16),
};

/** The outlines of shapes by name, as lists of [x, y] with y downwards; null for a circle. */
export const outlinesOf = (names) => names.map((name) => sized(OUTLINES[name] ?? null));

function sized(points) {
  if (!points) return null;
  let area = 0;
  points.forEach(([x, y], i) => {
    const [nextX, nextY] = points[(i + 1) % points.length];
    area += (x * nextY - nextX * y) / 2;
  });
  const farthest = Math.max(...points.map(([x, y]) => Math.hypot(x, y)));
  const factor = Math.min(Math.sqrt(Math.PI / Math.abs(area)), REACH / farthest);
  return points.map(([x, y]) => [x * factor, y * factor]);
}

/** How far a shape reaches from its middle, in radii. */
export const reachOf = (points) => (points ? Math.max(...points.map((p) => Math.hypot(...p))) : 1);

/** Add a shape around a point to the path of a pen, which is a canvas's or SvgPen. */
export function trace(pen, points, x, y, radius) {
  if (!points) {
    pen.moveTo(x + radius, y);
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  points.forEach(([right, down], i) => pen[i ? "lineTo" : "moveTo"](x + right * radius, y + down * radius));
  pen.closePath();
}

export const FIELD = 64; // texels along each side of a distance field
export const FIELD_REACH = 2; // radii from its middle to its sides

/**
 * The distance from the rim of a shape at each texel, in radii: from 1 inside (255) to 1 outside (0).
 * The fragment shader turns it into coverage, with smooth edges at every size.
 */
export function distanceField(points) {
  const field = new Uint8Array(FIELD * FIELD);
  for (let line = 0; line < FIELD; line++) {
    for (let column = 0; column < FIELD; column++) {
      const [x, y] = [column, line].map((i) => (((i + 0.5) / FIELD) * 2 - 1) * FIELD_REACH);
      const distance = points ? fromPolygon(points, x, y) : Math.hypot(x, y) - 1;
      field[line * FIELD + column] = Math.round(Math.min(Math.max(0.5 - distance / 2, 0), 1) * 255);
    }
  }
  return field;
}

/** The distance of a point from the rim of a polygon, negative inside. */
function fromPolygon(points, x, y) {
  let [nearest, inside] = [Infinity, false];
  points.forEach(([fromX, fromY], i) => {
    const [toX, toY] = points[(i + 1) % points.length];
    const [sideX, sideY] = [toX - fromX, toY - fromY];
    const along = ((x - fromX) * sideX + (y - fromY) * sideY) / (sideX ** 2 + sideY ** 2);
    const part = Math.min(Math.max(along, 0), 1);
    nearest = Math.min(nearest, Math.hypot(x - fromX - part * sideX, y - fromY - part * sideY));
    if (fromY > y !== toY > y && x < fromX + ((y - fromY) / sideY) * sideX) inside = !inside;
  });
  return inside ? -nearest : nearest;
}
