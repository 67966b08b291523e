// The front end in a notebook: the page in a frame, and its selection in the model of anywidget.

const HELLO = "reinforce2vec"; // see host.js

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "Map of an embedding";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads allow-popups");
  frame.setAttribute("allow", "fullscreen");
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0; display: block;`;
  const { port1: own, port2: theirs } = new MessageChannel();
  own.onmessage = ({ data }) => {
    model.set("rows", data);
    model.save_changes();
  };
  const send = () => own.postMessage(model.get("rows"));
  frame.addEventListener("load", () => {
    frame.contentWindow.postMessage(HELLO, "*", [theirs]);
    if (model.get("rows").length) send();
  }, { once: true });
  const changed = () => send();
  model.on("change:rows", changed);
  frame.srcdoc = new TextDecoder().decode(model.get("page"));
  el.append(frame);
  return () => {
    model.off("change:rows", changed);
    own.close();
    frame.remove();
  };
}

export default { render };
