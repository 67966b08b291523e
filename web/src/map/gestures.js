// Gestures of fingers, mice and pens on the map.
//
// One finger or a drag moves the map; two fingers or the wheel zoom; a tap chooses a node, and a
// second one zooms in. A drag draws a lasso in lasso mode, or with Shift.

const STILL = { mouse: 4, pen: 8, touch: 10 }; // pixels that a tap may move
const TWICE = { within: 400, near: 28 }; // milliseconds and pixels between the taps of a double tap
const NEXT_POINT = 3; // pixels between two points of a lasso

/**
 * Listen to a canvas. `act` has pan(right, down), zoom(x, y, factor), tap(x, y, event),
 * tapTwice(x, y), hover(x, y), leave(), wantsLasso(), drawLasso(path), endLasso(path, event); the
 * path is null where a lasso was given up.
 */
export function listen(canvas, act) {
  const pointers = new Map(); // those that are down: id → {x, y}
  let start = null; // of the gesture: {x, y}; null once it has moved too far for a tap
  let lasso = null; // its path
  let lastTap = { time: -Infinity, x: 0, y: 0 };

  const place = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };

  const down = (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    const at = place(event);
    pointers.set(event.pointerId, at);
    canvas.setPointerCapture(event.pointerId);
    act.leave();
    if (pointers.size > 1) {
      start = null;
      if (lasso) act.endLasso((lasso = null), event); // two fingers zoom
      return;
    }
    start = at;
    const shift = event.shiftKey && event.pointerType === "mouse";
    if (shift || act.wantsLasso()) lasso = [[at.x, at.y]];
  };

  const move = (event) => {
    const [before, at] = [pointers.get(event.pointerId), place(event)];
    if (!before) {
      if (event.pointerType !== "touch") act.hover(at.x, at.y);
      return;
    }
    if (pointers.size === 2) pinch(event.pointerId, before, at);
    else if (pointers.size === 1) {
      const still = STILL[event.pointerType] ?? STILL.touch;
      if (start && Math.hypot(at.x - start.x, at.y - start.y) < still) return;
      start = null;
      if (lasso) extend(at);
      else act.pan(at.x - before.x, at.y - before.y);
    }
    pointers.set(event.pointerId, at);
  };

  /** One of two fingers moved: zoom by the change of their distance, about their middle. */
  const pinch = (id, before, at) => {
    const other = [...pointers].find(([key]) => key !== id)[1];
    const apart = (one) => Math.max(Math.hypot(one.x - other.x, one.y - other.y), 1);
    act.pan((at.x - before.x) / 2, (at.y - before.y) / 2);
    act.zoom((at.x + other.x) / 2, (at.y + other.y) / 2, apart(at) / apart(before));
  };

  const extend = ({ x, y }) => {
    const [lastX, lastY] = lasso.at(-1);
    if (Math.hypot(x - lastX, y - lastY) < NEXT_POINT) return;
    lasso.push([x, y]);
    act.drawLasso(lasso);
  };

  const up = (event) => {
    if (!pointers.delete(event.pointerId) || pointers.size) return;
    const tapped = start && event.type === "pointerup";
    if (tapped) tap(event);
    else if (lasso) act.endLasso(event.type === "pointerup" ? lasso : null, event);
    start = lasso = null;
  };

  const tap = (event) => {
    const { x, y } = place(event);
    const [soon, near] = [
      event.timeStamp - lastTap.time < TWICE.within,
      Math.hypot(x - lastTap.x, y - lastTap.y) < TWICE.near,
    ];
    if (soon && near) act.tapTwice(x, y);
    else act.tap(x, y, event);
    lastTap = { time: soon && near ? -Infinity : event.timeStamp, x, y };
  };

  const wheel = (event) => {
    event.preventDefault();
    const { x, y } = place(event);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 18 : 1;
    const speed = event.ctrlKey ? 0.01 : 0.0018; // browsers set Ctrl for a pinch on a touchpad
    const by = Math.max(-240, Math.min(event.deltaY * lines, 240));
    act.zoom(x, y, Math.exp(-by * speed));
  };

  canvas.style.touchAction = "none"; // the page itself neither scrolls nor zooms
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && act.leave());
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("gesturestart", (event) => event.preventDefault()); // Safari's own zoom
}
