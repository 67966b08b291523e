// Scales of numeric columns: values to shares from 0 to 1 and back, ticks, and values as text.

import { timeText } from "./data.js";

const DAY = 86_400;
const YEAR = 365.25 * DAY;

/** A typed array of what a function returns for each value; `Kind.from` takes much longer. */
export function mapped(Kind, values, of) {
  const found = new Kind(values.length);
  for (let i = 0; i < values.length; i++) found[i] = of(values[i]);
  return found;
}

/** The scale of a column of numbers or times. */
export function scaleOf({ kind, low, high, log, days, own, values }) {
  const grouping = own || high >= 10_000; // 2019 may be a year
  const span = high - low;
  const bend = log ? Math.min(1, high / 1e4) || 1 : 0; // a logarithmic scale is linear up to it
  const top = log ? Math.log1p(span / bend) : span;
  const share = (value) =>
    top ? Math.min(1, Math.max(0, (log ? Math.log1p((value - low) / bend) : value - low) / top)) : 0;
  const value = (part) => low + (log ? Math.expm1(part * top) * bend : part * span);
  const whole = kind === "number" && values.every((one) => Number.isNaN(one) || one % 1 === 0);
  const unit = whole ? 1 : days ? DAY : 0; // values are multiples of it
  const text = (number) => (kind === "time" ? timeText(number, days) : short(number, whole, grouping));
  const ticks = kind === "time" ? timeTicks(low, high) : log ? powers(low, high) : steps(low, high);
  return {
    low,
    high,
    unit,
    share,
    value,
    text,
    ticks: apart(
      ticks.map((tick) => ({
        share: share(tick),
        text: kind === "time" ? tickText(tick, span) : short(tick, whole, grouping),
      })),
    ),
  };
}

const APART = 0.16; // share of the scale between two ticks

/** The first and the last tick, and those between that are not too close to another. */
function apart(ticks) {
  if (ticks.length < 3) return ticks;
  const [found, last] = [[ticks[0]], ticks.at(-1)];
  for (const tick of ticks.slice(1, -1)) {
    const room = Math.min(tick.share - found.at(-1).share, last.share - tick.share);
    if (room >= APART) found.push(tick);
  }
  return [...found, last];
}

/** A number with as many digits as a reader needs; `useGrouping`: with thousands separators. */
function short(number, whole, useGrouping) {
  const size = Math.abs(number);
  if (size >= 1e6 || (size && size < 1e-3)) {
    const options = { notation: size < 1 ? "scientific" : "compact", maximumSignificantDigits: 3 };
    return signed(number.toLocaleString("en", options));
  }
  const digits = whole ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 4;
  return signed(number.toLocaleString("en", { maximumFractionDigits: digits, useGrouping }));
}

/** A number with a minus instead of a hyphen. */
const signed = (text) => text.replace(/^-/, "−");

/** About four round numbers in a range. */
function steps(low, high) {
  if (!(high > low)) return [low];
  const rough = (high - low) / 3;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = ten * [1, 2, 5, 10].find((factor) => ten * factor >= rough * 0.7);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}

/** The ends of a range and powers of ten between them. */
function powers(low, high) {
  const found = [low];
  for (let power = Math.floor(Math.log10(high)); found.length < 4 && power > -12; power--) {
    const tick = 10 ** power;
    if (tick <= low || found.some((other) => other >= tick && other < tick * 4)) break;
    if (tick < high / 2.5) found.push(tick);
  }
  return [...new Set([...found, high])].sort((a, b) => a - b);
}

/** Round times in a range: years, months or days. */
function timeTicks(low, high) {
  const span = high - low;
  if (span > 3 * YEAR) {
    const year = (seconds) => new Date(seconds * 1000).getUTCFullYear();
    return steps(year(low), year(high))
      .filter((one) => one % 1 === 0)
      .map((one) => Date.UTC(one, 0) / 1000)
      .filter((time) => time >= low && time <= high);
  }
  return steps(0, span).map((after) => low + after);
}

function tickText(tick, span) {
  const text = new Date(tick * 1000).toISOString();
  if (span > 3 * YEAR) return text.slice(0, text.indexOf("-", 1));
  if (span > 90 * DAY) return text.slice(0, 7);
  return span > 3 * DAY ? text.slice(5, 10) : text.slice(11, 16);
}
