// A pen with the part of a canvas's interface that the map uses, which writes SVG.

const short = (number) => String(Math.round(number * 100) / 100);

// What XML cannot hold: control characters, and halves of surrogate pairs.
const UNFIT =
  /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const escaped = (text) =>
  text.replace(UNFIT, "\ufffd").replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const STYLE = [
  ...["fillStyle", "strokeStyle", "globalAlpha", "lineWidth", "lineJoin", "dashes"],
  ...["font", "textAlign", "textBaseline"],
];
const ANCHORS = { left: "start", center: "middle", right: "end" };

export class SvgPen {
  constructor(width, height) {
    Object.assign(this, { width, height });
    this.parts = [];
    this.path = "";
    this.saved = []; // by each save(): the style, and how many elements were opened since
    this.clips = 0;
    this.dashes = [];
    Object.assign(this, { globalAlpha: 1, lineWidth: 1, textAlign: "left" });
    this.ruler = document.createElement("canvas").getContext("2d");
  }

  /** The finished drawing. */
  text() {
    const [width, height] = [this.width, this.height].map(short);
    const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n${this.parts.join("\n")}\n</svg>\n`;
  }

  add(tag, attributes, content = "") {
    const written = Object.entries(attributes)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => ` ${name}="${escaped(String(value))}"`);
    this.parts.push(`<${tag}${written.join("")}>${escaped(content)}</${tag}>`);
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x, y) {
    this.path += `L${short(x)} ${short(y)}`;
  }

  closePath() {
    this.path += "Z";
  }

  /** A circle; the path is at its right. */
  arc(x, y, radius) {
    const [r, left, right, at] = [radius, x - radius, x + radius, y].map(short);
    this.path += `A${r} ${r} 0 1 1 ${left} ${at}A${r} ${r} 0 1 1 ${right} ${at}Z`;
  }

  rect(x, y, width, height) {
    this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
  }

  setLineDash(dashes) {
    this.dashes = dashes;
  }

  strokes() {
    return {
      stroke: this.strokeStyle,
      "stroke-width": short(this.lineWidth),
      "stroke-opacity": this.globalAlpha < 1 ? short(this.globalAlpha) : null,
      "stroke-dasharray": this.dashes.length ? this.dashes.join(" ") : null,
      "stroke-linejoin": this.lineJoin ?? null,
    };
  }

  fills() {
    const opacity = this.globalAlpha < 1 ? short(this.globalAlpha) : null;
    return { fill: this.fillStyle, "fill-opacity": opacity };
  }

  stroke() {
    if (this.path) this.add("path", { d: this.path, fill: "none", ...this.strokes() });
  }

  fill() {
    if (this.path) this.add("path", { d: this.path, ...this.fills() });
  }

  fillRect(x, y, width, height) {
    const [left, top, wide, high] = [x, y, width, height].map(short);
    this.add("rect", { x: left, y: top, width: wide, height: high, ...this.fills() });
  }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  fillText(text, x, y) {
    this.add("text", { ...this.letters(x, y), ...this.fills() }, text);
  }

  strokeText(text, x, y) {
    this.add("text", { ...this.letters(x, y), fill: "none", ...this.strokes() }, text);
  }

  letters(x, y) {
    const [, weight, size, family] = this.font.match(/^(\d+) ([\d.]+)px (.*)$/s);
    return {
      x: short(x),
      y: short(y),
      "font-family": family.replace(/\s+/g, " "),
      "font-size": size,
      "font-weight": weight,
      "text-anchor": ANCHORS[this.textAlign],
      "dominant-baseline": this.textBaseline === "middle" ? "central" : null,
    };
  }

  drawImage(canvas, x, y, width, height) {
    const [left, top, wide, high] = [x, y, width, height].map(short);
    const href = canvas.toDataURL("image/png");
    this.add("image", { x: left, y: top, width: wide, height: high, href });
  }

  save() {
    const style = Object.fromEntries(STYLE.map((name) => [name, this[name]]));
    this.saved.push({ style, opened: 0 });
  }

  clip() {
    const id = `clip${++this.clips}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
    this.group(`clip-path="url(#${id})"`);
  }

  translate(x, y) {
    this.group(`transform="translate(${short(x)} ${short(y)})"`);
  }

  group(attributes) {
    this.parts.push(`<g ${attributes}>`);
    this.saved.at(-1).opened++;
  }

  restore() {
    const { style, opened } = this.saved.pop();
    Object.assign(this, style);
    this.parts.push("</g>".repeat(opened));
  }
}
