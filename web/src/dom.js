// Small helpers for the document. Text is only ever set as text: ids may hold anything.

const SVG = "http://www.w3.org/2000/svg";

/** The element of this id. */
export const byId = (id) => document.getElementById(id);

/**
 * Make an element: a tag with classes ("p.muted"), attributes and on… listeners, if there are any, and
 * children that are elements or text. A button submits nothing.
 */
export const make = (tag, ...content) => filled((name) => document.createElement(name), tag, content);

/** Make an element of a drawing. */
export const draw = (tag, ...content) => filled((name) => document.createElementNS(SVG, name), tag, content);

function filled(create, tag, content) {
  const [name, ...classes] = tag.split(".");
  const element = create(name);
  if (name === "button") element.type = "button";
  if (classes.length) element.setAttribute("class", classes.join(" "));
  const attributes = content[0]?.constructor === Object ? content.shift() : {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...content.filter((child) => child != null && child !== false));
  return element;
}

/** A number with thousands separators: 88,234. */
export const written = (number) => number.toLocaleString("en");

/** A count of things: 1 node, 2,000 nodes. */
export const counted = (number, one, many = `${one}s`) => `${written(number)} ${number === 1 ? one : many}`;

/** Whether the user prefers reduced motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The value of a colour that the style sheet names. */
export const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Tell a screen reader something, without moving the focus. */
export const say = (text) => (byId("said").textContent = text);
