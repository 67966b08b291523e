// Looks of nodes, which are colours and shapes, from the palette in the data of the page.

export const SHADES = 64;

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

/** Of nodes without a group, and of groups beyond the palette. */
const grey = (nodes) => nodes.others[isDark() ? 1 : 0];

const GREYED = 0.3; // opacity of what is not highlighted

/**
 * The looks of groups by rank, as {colour, shape, alpha}. The largest groups have one each. Where
 * some are highlighted, those of them that are otherwise grey take unused looks.
 */
export function groupLooks(nodes, way, lit) {
  const known = nodes.looks.map(([light, dark, shape]) => ({
    colour: isDark() ? dark : light,
    shape,
    alpha: 1,
  }));
  const own = (rank) => rank < known.length && rank !== way.unnamed;
  const looks = way.groups.map((_, rank) =>
    own(rank) ? known[rank] : { colour: grey(nodes), shape: 0, alpha: 1 },
  );
  if (!lit) return looks;
  const free = known.filter((_, number) => !(lit.has(number) && own(number)));
  return looks.map((look, rank) => {
    if (!lit.has(rank)) return { colour: grey(nodes), shape: look.shape, alpha: GREYED };
    return own(rank) ? look : (free.shift() ?? look);
  });
}

/** SHADES looks from low to high. */
export function scaleLooks(nodes) {
  const looks = [];
  for (let i = 0; i < SHADES; i++) {
    const place = (i / (SHADES - 1)) * (nodes.scale.length - 1);
    const low = Math.min(Math.floor(place), nodes.scale.length - 2);
    const colour = mixed(nodes.scale[low], nodes.scale[low + 1], place - low);
    looks.push({ colour, shape: 0, alpha: 1 });
  }
  return isDark() ? looks : looks.reverse(); // high values contrast with the background
}

/** The look of nodes without a value. */
export const noLook = (nodes) => ({ colour: grey(nodes), shape: 0, alpha: GREYED });

function mixed(one, other, share) {
  const parts = [1, 3, 5].map((at) => {
    const [a, b] = [one, other].map((colour) => parseInt(colour.slice(at, at + 2), 16));
    return Math.round(a + (b - a) * share)
      .toString(16)
      .padStart(2, "0");
  });
  return `#${parts.join("")}`;
}
