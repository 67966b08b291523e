// Colours of nodes: groups in Okabe and Ito's palette, which is safe for the colour-blind, in the
// order of plotting/style.py; and degrees on a scale that rises in lightness as viridis does.

const OKABE_ITO = [
  ...["#0072b2", "#e69f00", "#009e73", "#cc79a7"],
  ...["#56b4e9", "#d55e00", "#333333", "#f0e442"],
];
const ON_DARK = { "#333333": "#f2f2f2", "#0072b2": "#2f95d6" };
const ON_LIGHT = { "#f0e442": "#dfcf1a" }; // darker, so that it is visible on white
const VIRIDIS = [
  ...["#440154", "#482878", "#3e4989", "#31688e", "#26828e"],
  ...["#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"],
];
export const IN_COLOUR = OKABE_ITO.length;
export const SHADES = 64;

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

const grey = () => (isDark() ? "#6b7076" : "#b3b8bd");

function paletteColour(number) {
  const colour = OKABE_ITO[number];
  return (isDark() ? ON_DARK : ON_LIGHT)[colour] ?? colour;
}

/**
 * The colours of groups by rank: the largest have one, the rest are grey. Where some groups are
 * highlighted, those of them that are otherwise grey take unused colours.
 */
export function groupColours(way, lit) {
  const own = (rank) => rank < IN_COLOUR && rank !== way.unnamed;
  const colours = way.groups.map((_, rank) => (own(rank) ? paletteColour(rank) : grey()));
  if (!lit) return colours;
  const free = OKABE_ITO.map((_, number) => number).filter(
    (number) => !(lit.has(number) && own(number)),
  );
  for (const rank of lit)
    if (!own(rank) && free.length) colours[rank] = paletteColour(free.shift());
  return colours;
}

/** The colour of groups that are not highlighted, close to the background. */
export const dimmed = () => (isDark() ? "#2a2e33" : "#e6e8ea");

/** SHADES colours from low to high. */
export function shades() {
  const colours = [];
  for (let i = 0; i < SHADES; i++) {
    const place = (i / (SHADES - 1)) * (VIRIDIS.length - 1);
    const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
    colours.push(mixed(VIRIDIS[low], VIRIDIS[low + 1], place - low));
  }
  return isDark() ? colours : colours.reverse(); // high values contrast with the background
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
