// Panels that buttons open and close: legend, filters and view. On a phone they are sheets at the
// bottom, of which one is open at a time.

import { byId } from "./dom.js";

export const PHONE = matchMedia("(max-width: 640px)");
const SMALL = matchMedia("(max-width: 640px), (max-height: 480px)"); // too small for the legend
export const STACKED = matchMedia("(max-width: 860px) and (min-height: 560px)"); // details below

const CROWDED = matchMedia("(max-width: 860px) and (max-height: 559px)"); // details beside the map

const SHEETS = ["legend", "filters", "view"];
const isOpen = (name) => !byId(name).hidden;

/** Make the buttons work; `opening[name]` is called before a sheet opens, `moved` after each change. */
export function setUpSheets(opening, moved) {
  const show = (name, open, focus) => {
    if (open === isOpen(name)) return;
    if (open) {
      opening[name]?.();
      for (const other of SHEETS) if (inTheWay(other, name)) show(other, false);
    }
    byId(name).hidden = !open;
    byId(`show-${name}`).setAttribute("aria-expanded", String(open));
    if (focus) (open ? byId(name).querySelector("h2") : byId(`show-${name}`)).focus();
    moved();
  };
  for (const name of SHEETS) {
    byId(`show-${name}`).addEventListener("click", () => show(name, !isOpen(name), true));
    byId(name)
      .querySelector(".close")
      .addEventListener("click", () => show(name, false, true));
    byId(name).addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation(); // the selection stays
      show(name, false, true);
    });
  }
  const inTheWay = (other, name) => other !== name && (PHONE.matches || other === "view");
  document.addEventListener("pointerdown", (event) => {
    const inside = event.target.closest("#view, #show-view");
    if (!inside && isOpen("view")) show("view", false);
  });
  show("legend", !SMALL.matches);
  SMALL.addEventListener("change", () => show("legend", !SMALL.matches));
  return {
    open: (name) => show(name, true),
    /** Close what would cover the map beside the details, on a phone and in a small frame. */
    makeRoom: () => {
      if (PHONE.matches || CROWDED.matches) SHEETS.forEach((name) => show(name, false));
    },
  };
}
