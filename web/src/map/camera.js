// The camera: which part of the map the canvas shows.

const DURATION = 550; // of a flight, in milliseconds

/** The middle of the view (`x`, `y`), and `scale`: pixels per unit of the map. */
export class Camera {
  constructor() {
    Object.assign(this, { x: 0, y: 0, scale: 1, width: 1, height: 1 });
    this.limits = [1e-9, 1e9]; // of the scale
  }

  /** The screen position of a point of the map. */
  toScreen(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (this.y - y) * this.scale + this.height / 2];
  }

  /** The point of the map at a screen position. */
  toMap(right, down) {
    return [this.x + (right - this.width / 2) / this.scale, this.y - (down - this.height / 2) / this.scale];
  }

  /** The rectangle of the map between two corners of the screen; all of the view by default. */
  box(left = 0, top = 0, right = this.width, bottom = this.height) {
    const [low, high] = [this.toMap(left, bottom), this.toMap(right, top)];
    return { left: low[0], bottom: low[1], right: high[0], top: high[1] };
  }

  /** Move the map by some pixels. */
  pan(right, down) {
    this.x -= right / this.scale;
    this.y += down / this.scale;
  }

  /** Zoom; what is at this screen position stays there. */
  zoomAt(right, down, factor) {
    const [x, y] = this.toMap(right, down);
    this.scale = this.limited(this.scale * factor);
    const [newX, newY] = this.toMap(right, down);
    this.x += x - newX;
    this.y += y - newY;
  }

  limited(scale) {
    return Math.min(Math.max(scale, this.limits[0]), this.limits[1]);
  }

  /** The view that holds a rectangle of the map, with `free` pixels at each side left out. */
  holding({ left, bottom, right, top }, free) {
    const wide = Math.max(this.width - free.left - free.right, 40);
    const high = Math.max(this.height - free.top - free.bottom, 40);
    const needed = Math.max((right - left) / wide, (top - bottom) / high);
    const scale = this.limited(1 / Math.max(needed, 1e-12));
    return {
      x: (left + right) / 2 + (free.right - free.left) / 2 / scale,
      y: (bottom + top) / 2 + (free.top - free.bottom) / 2 / scale,
      scale,
    };
  }
}

/** Fly from where the camera is to a view; calls `moved` after each step. Returns {done, stop}. */
export function fly(camera, view, moved) {
  const from = { x: camera.x, y: camera.y, scale: camera.scale };
  const [start, ended] = [performance.now(), Promise.withResolvers?.() ?? withResolvers()];
  let frame = 0;
  const step = () => {
    const time = Math.min((performance.now() - start) / DURATION, 1);
    Object.assign(camera, between(from, view, time * time * (3 - 2 * time)));
    moved();
    if (time < 1) frame = requestAnimationFrame(step);
    else ended.resolve();
  };
  frame = requestAnimationFrame(step);
  const stop = () => {
    cancelAnimationFrame(frame);
    ended.resolve();
  };
  return { done: ended.promise, stop };
}

/** A view on the way between two: as zooming is multiplication, the middle follows the scale. */
function between(from, to, share) {
  const scale = from.scale * (to.scale / from.scale) ** share;
  const ratio = to.scale / from.scale;
  const along =
    Math.abs(ratio - 1) < 1e-3 ? share : (1 / scale - 1 / from.scale) / (1 / to.scale - 1 / from.scale);
  return { x: from.x + (to.x - from.x) * along, y: from.y + (to.y - from.y) * along, scale };
}

function withResolvers() {
  const parts = {};
  parts.promise = new Promise((resolve) => (parts.resolve = resolve));
  return parts;
}
