// The page within another page, such as a notebook: the selection goes out and comes in.

const HELLO = "reinforce2vec"; // with it the page around this one sends a port

/**
 * Listen for a page around this one, from the first moment on. Returns a function to call once the
 * map is there, with what selects rows on it.
 */
export function listenToHost() {
  let port = null;
  let select = null;
  let waiting = null; // rows that came before the map was there
  let last = ""; // rows that both sides know
  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || event.data !== HELLO || !event.ports[0]) return;
    port = event.ports[0];
    port.onmessage = ({ data }) => {
      last = String(data);
      if (select) select(data);
      else waiting = data;
    };
  });
  document.addEventListener("choose", ({ detail: rows }) => {
    if (!port || String(rows) === last) return;
    last = String(rows);
    port.postMessage(Array.from(rows));
  });
  return (selectRows) => {
    select = selectRows;
    if (waiting) select(waiting);
  };
}
