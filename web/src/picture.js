// The map as a picture: what is in view beside the panels, with title, names and legend.

import { styled } from "./dom.js";
import { trace } from "./map/shapes.js";
import { SvgPen } from "./svg.js";

const VECTORS = 20_000; // points that an SVG has as shapes; with more, it has a bitmap of them
const DETAIL = 3; // pixels of a bitmap for each of the screen, along each side
const WIDEST = 8192; // pixels along the sides of a bitmap, which WebGL has to draw
const LEAST = 240; // pixels along each side of what panels leave free, or else all is shown
const EDGE = 20; // around everything
const TITLE = 40; // the height of the title
const LEGEND = 220; // the width of the legend
const LINE = 20; // the height of its lines, where there is room for all
const TIGHT = 15; // and at least

/**
 * The map as a file, "png" or "svg". `legend` has a title and a heading, and entries of {name, look}
 * or a scale with ticks of {share, text} and its looks from low to high.
 */
export async function picture(map, overlay, legend, type) {
  const frame = frameOf(map);
  const [width, height] = [frame.width + LEGEND + 3 * EDGE, frame.height + TITLE + 2 * EDGE];
  if (type === "svg") {
    const pen = new SvgPen(width, height);
    compose(pen, map, overlay, legend, frame);
    return new Blob([pen.text()], { type: "image/svg+xml" });
  }
  const canvas = document.createElement("canvas");
  const detail = detailOf(map);
  [canvas.width, canvas.height] = [Math.round(width * detail), Math.round(height * detail)];
  const pen = canvas.getContext("2d");
  pen.scale(detail, detail);
  compose(pen, map, overlay, legend, frame);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

const detailOf = ({ camera }) => Math.min(DETAIL, WIDEST / Math.max(camera.width, camera.height));

/** The part of the map that panels leave free. */
function frameOf(map) {
  const { width, height } = map.camera;
  const { left, right, top, bottom } = map.free();
  const free = { left, top, width: width - left - right, height: height - top - bottom };
  return Math.min(free.width, free.height) < LEAST ? { left: 0, top: 0, width, height } : free;
}

function compose(pen, map, overlay, legend, frame) {
  const [width, height] = [frame.width + LEGEND + 3 * EDGE, frame.height + TITLE + 2 * EDGE];
  pen.fillStyle = styled("--paper");
  pen.fillRect(0, 0, width, height);
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.fillStyle = styled("--ink");
  pen.font = font(650, 18);
  pen.fillText(fitting(pen, legend.title, width - 2 * EDGE), EDGE, EDGE + TITLE / 2 - 6);
  pen.save();
  pen.beginPath();
  pen.rect(EDGE, EDGE + TITLE, frame.width, frame.height);
  pen.clip();
  pen.translate(EDGE - frame.left, EDGE + TITLE - frame.top);
  overlay.paintBeneath(pen);
  paintPoints(pen, map);
  const { left, top } = frame;
  overlay.paintAbove(pen, [], [left, top, left + frame.width, top + frame.height]);
  overlay.paintNames(pen);
  pen.restore();
  pen.save();
  pen.translate(frame.width + 2 * EDGE, EDGE + TITLE);
  paintLegend(pen, legend, map.outlines, frame.height);
  pen.restore();
}

/** The points: shapes in an SVG of not too many, otherwise a bitmap that WebGL draws. */
function paintPoints(pen, map) {
  const rows = pen instanceof SvgPen ? map.inView(VECTORS) : null;
  const { width, height } = map.camera;
  if (!rows) {
    map.points.draw(map.camera, detailOf(map), map.style(1)); // it is there until the next frame
    pen.drawImage(map.canvas, 0, 0, width, height);
    map.draw();
    return;
  }
  const { opacity, rim, paper } = map.style(1);
  for (const { members, look, faint } of runsOf(map, rows, !rim && opacity === 1)) {
    pen.beginPath();
    for (const row of members) {
      trace(pen, map.outlines[look.shape ?? 0], ...map.at(row), map.radius(row));
    }
    pen.globalAlpha = (look.alpha ?? 1) * opacity * faint;
    pen.strokeStyle = paper;
    pen.lineWidth = 2 * rim;
    if (rim) pen.stroke();
    pen.fillStyle = look.colour;
    pen.fill();
  }
  pen.globalAlpha = 1;
}

/** Rows in the order in which the map draws them; `joined`: those of one look that follow each other. */
function runsOf(map, rows, joined) {
  const { codes, looks } = map.painted;
  const place = new Uint32Array(codes.length);
  map.points.order.forEach((row, i) => (place[row] = i));
  const layer = new Map(rows.map((row) => [row, map.layerOf(row)]));
  rows.sort((a, b) => layer.get(a) - layer.get(b) || place[a] - place[b]);
  const runs = [];
  for (const row of rows) {
    const [look, faint] = [looks[codes[row]], map.layers[layer.get(row)]];
    const last = runs.at(-1);
    const follows = joined && last?.look === look && last.faint === faint && (look.alpha ?? 1) === 1;
    if (follows) last.members.push(row);
    else runs.push({ look, faint, members: [row] });
  }
  return runs;
}

function paintLegend(pen, { heading, entries, scale, looks }, outlines, height) {
  pen.fillStyle = styled("--ink");
  pen.font = font(650, 13);
  pen.fillText(fitting(pen, heading, LEGEND), 0, LINE / 2);
  pen.font = font(400, 13);
  if (entries) paintEntries(pen, entries, outlines, height);
  else paintScale(pen, scale.ticks, looks);
}

function paintEntries(pen, entries, outlines, height) {
  const line = Math.max(TIGHT, Math.min(LINE, height / (entries.length + 2)));
  const room = Math.max(1, Math.floor(height / line) - 2);
  const listed = entries.length > room ? entries.slice(0, room - 1) : entries;
  const top = 1.7 * LINE;
  listed.forEach(({ name, look }, i) => {
    const y = top + i * line;
    pen.beginPath();
    trace(pen, outlines[look.shape ?? 0], 7, y, 5);
    pen.globalAlpha = look.alpha ?? 1;
    pen.fillStyle = look.colour;
    pen.fill();
    pen.globalAlpha = 1;
    pen.fillStyle = styled("--ink");
    pen.fillText(fitting(pen, name, LEGEND - 22), 22, y);
  });
  const left = entries.length - listed.length;
  if (left) pen.fillText(`and ${left.toLocaleString("en")} more`, 22, top + listed.length * line);
}

function paintScale(pen, ticks, looks) {
  const shades = looks.slice(0, -1); // the last is of nodes without a value
  shades.forEach(({ colour }, i) => {
    pen.fillStyle = colour;
    pen.fillRect((i / shades.length) * LEGEND, 1.3 * LINE, LEGEND / shades.length + 0.5, 12);
  });
  pen.fillStyle = styled("--ink");
  for (const { share, text } of ticks) {
    const room = LEGEND - pen.measureText(text).width;
    pen.fillText(text, share * room, 2.5 * LINE);
  }
}

const font = (weight, size) => `${weight} ${size}px ${styled("--text")}`;

/** A text, cut where it is too long. */
function fitting(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  const letters = [...text];
  while (letters.length && pen.measureText(`${letters.join("")}…`).width > width) letters.pop();
  return `${letters.join("")}…`;
}
