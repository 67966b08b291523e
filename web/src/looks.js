// How groups and shades look: {colour, shape, alpha}. Python's palette is in the page's header.

export const SHADES = 64; // of a scale
export const NO_VALUE = SHADES; // the look of nodes without a value, after the shades

const CIRCLE = 0; // shapes are numbered as in the header
const FAINT = 0.12; // opacity of groups that are not highlighted

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

/** Of nodes without a group or a value: at least 3:1 against the background. */
const grey = () => (isDark() ? "#7d848b" : "#82888e");

/**
 * The looks of groups by rank. Where there are more groups than looks, they begin again.
 * `lit` has the ranks of highlighted groups, or is null.
 */
export function groupLooks({ looks }, groups, lit) {
  const side = isDark() ? 1 : 0;
  return groups.map((group, rank) => {
    const alpha = lit && !lit.has(rank) ? FAINT : 1;
    if (group.without || group.rest) return { colour: grey(), shape: CIRCLE, alpha };
    const look = looks[rank % looks.length];
    return { colour: look[side], shape: look[2], alpha };
  });
}

/** SHADES looks from low to high, and the one of nodes without a value. */
export function scaleLooks({ scale }) {
  const looks = [];
  for (let i = 0; i < SHADES; i++) {
    const place = (i / (SHADES - 1)) * (scale.length - 1);
    const low = Math.min(Math.floor(place), scale.length - 2);
    looks.push({ colour: mixed(scale[low], scale[low + 1], place - low), shape: CIRCLE, alpha: 1 });
  }
  if (!isDark()) looks.reverse(); // high values contrast with the background
  return [...looks, { colour: grey(), shape: CIRCLE, alpha: 0.7 }];
}

function mixed(one, other, share) {
  const parts = [1, 3, 5].map((at) => {
    const [a, b] = [one, other].map((colour) => parseInt(colour.slice(at, at + 2), 16));
    return Math.round(a + (b - a) * share)
      .toString(16)
      .padStart(2, "0");
  });
  return `#${parts.join("")}`;
}
