// The front end in a notebook: the page in a frame, and its selection in the model of anywidget.

const HELLO = "reinforce2vec"; // see host.js

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "Map of an embedding";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.setAttribute("allow", "fullscreen; clipboard-write");
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0; display: block;`;
  let port = null; // to the page
  let taking = false; // a selection that the page has already
  const send = () => port?.postMessage(model.get("rows"));
  const take = ({ data }) => {
    taking = true;
    model.set("rows", data); // calls `changed`, here and in other views
    taking = false;
    model.save_changes();
  };
  const connect = () => {
    port?.close();
    const { port1: own, port2: theirs } = new MessageChannel();
    own.onmessage = take;
    port = own;
    frame.contentWindow.postMessage(HELLO, "*", [theirs]);
    if (model.get("rows").length) send();
  };
  const changed = () => taking || send();
  frame.addEventListener("load", connect); // again whenever the cell is moved
  model.on("change:rows", changed);
  frame.srcdoc = new TextDecoder().decode(model.get("page"));
  el.append(frame);
  return () => {
    model.off("change:rows", changed);
    port?.close();
    frame.remove();
  };
}

export default { render };
