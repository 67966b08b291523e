// The page within another page, such as a notebook: the selection goes out and comes in.

const HELLO = "reinforce2vec"; // with it the page around this one sends a port

/**
 * Listen for a page around this one, from the first moment on. Returns a function to call with what
 * selects rows here, once the map is there; this returns one to call with the rows that are selected
 * here.
 */
export function listenToHost() {
  let port = null;
  let select = null;
  let waiting = null; // rows that came before the map was there
  let last = "";
  window.addEventListener("message", (event) => {
    if (event.source !== window.parent || event.data !== HELLO || !event.ports[0]) return;
    port = event.ports[0];
    port.onmessage = ({ data }) => {
      last = String(data);
      if (select) select(data);
      else waiting = data;
    };
  });
  return (selectRows) => {
    select = (rows) => selectRows(Array.from(rows));
    if (waiting) select(waiting);
    return (rows) => {
      if (String(rows) === last) return; // it came from there
      last = String(rows);
      port?.postMessage(Array.from(rows));
    };
  };
}
