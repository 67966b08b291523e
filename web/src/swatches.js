// Small pictures of a look: the colour and the shape of the points of a group.

import { draw } from "./dom.js";
import { outlinesOf } from "./map/shapes.js";

/** Returns a function that makes the swatch of a look, {colour, shape}. */
export function swatchMaker(shapes) {
  const outlines = outlinesOf(shapes);
  return ({ colour, shape }) => {
    const points = outlines[shape];
    const outline = points
      ? draw("polygon", { points: points.map((point) => point.join(",")).join(" "), fill: colour })
      : draw("circle", { r: 1, fill: colour });
    const attributes = { class: "swatch", viewBox: "-1.6 -1.6 3.2 3.2", "aria-hidden": "true" };
    return draw("svg", attributes, outline);
  };
}
