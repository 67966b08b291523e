// Which nodes are where: a grid over the map, and the rows in each of its cells.

const PER_CELL = 4; // nodes in a cell, on average
const MOST_CELLS = 1024; // along each side

export class Grid {
  constructor(x, y, span) {
    Object.assign(this, { x, y, span });
    const side = Math.ceil(Math.sqrt(x.length / PER_CELL));
    this.side = Math.max(1, Math.min(side, MOST_CELLS));
    this.starts = new Uint32Array(this.side * this.side + 1);
    for (let row = 0; row < x.length; row++) this.starts[this.cell(row) + 1]++;
    for (let cell = 0; cell < this.side ** 2; cell++) this.starts[cell + 1] += this.starts[cell];
    const place = this.starts.slice();
    this.rows = new Uint32Array(x.length); // cell after cell
    for (let row = 0; row < x.length; row++) this.rows[place[this.cell(row)]++] = row;
  }

  step(value, low) {
    const step = Math.floor(((value - low) / this.span.size) * this.side);
    return Math.max(0, Math.min(step, this.side - 1));
  }

  cell(row) {
    const { left, bottom } = this.span;
    return this.step(this.y[row], bottom) * this.side + this.step(this.x[row], left);
  }

  /** Call `visit` with the range of each line of cells in a rectangle, until it returns true. */
  eachRange({ left, right, bottom, top }, visit) {
    const { span, side, starts } = this;
    if (right < span.left || left > span.left + span.size) return;
    if (top < span.bottom || bottom > span.bottom + span.size) return;
    const [first, last] = [this.step(left, span.left), this.step(right, span.left)];
    for (let line = this.step(bottom, span.bottom); line <= this.step(top, span.bottom); line++) {
      if (visit(starts[line * side + first], starts[line * side + last + 1])) return;
    }
  }

  /** About how many nodes are in a rectangle: all of the cells that it touches. */
  count(box) {
    let sum = 0;
    this.eachRange(box, (from, to) => {
      sum += to - from;
    });
    return sum;
  }

  /** Call `visit` with each row in a rectangle, until it returns true. */
  each({ left, right, bottom, top }, visit) {
    const { x, y, rows } = this;
    this.eachRange({ left, right, bottom, top }, (from, to) => {
      for (let i = from; i < to; i++) {
        const row = rows[i];
        const inside = x[row] >= left && x[row] <= right && y[row] >= bottom && y[row] <= top;
        if (inside && visit(row)) return true;
      }
      return false;
    });
  }
}

/** Whether a point is within a polygon of [x, y]. */
export function within(polygon, x, y) {
  let inside = false;
  for (let i = 0, last = polygon.length - 1; i < polygon.length; last = i++) {
    const [[x1, y1], [x2, y2]] = [polygon[i], polygon[last]];
    if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) inside = !inside;
  }
  return inside;
}
