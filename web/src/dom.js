// Small helpers for the document. Text is only ever set as text: ids may hold anything.

const SVG = "http://www.w3.org/2000/svg";

/** The element of this id. */
export const byId = (id) => document.getElementById(id);

/** Make an element: attributes, on… listeners, and children that are elements or text. */
export const make = (tag, attributes, ...children) =>
  filled(document.createElement(tag), attributes, children);

/** Make an element of a drawing. */
export const draw = (tag, attributes, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

function filled(element, attributes = {}, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null && child !== false));
  return element;
}

/** A number with thousands separators: 88,234. */
export const written = (number) => number.toLocaleString("en");

/** A count of things: 1 node, 2,000 nodes. */
export const counted = (number, one, many = `${one}s`) =>
  `${written(number)} ${number === 1 ? one : many}`;

/** Whether the user prefers reduced motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The value of a colour that the style sheet names. */
export const styled = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Tell a screen reader something, without moving the focus. */
export const say = (text) => (byId("said").textContent = text);
