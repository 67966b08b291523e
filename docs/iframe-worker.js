// The theme's search fails on a word that ends in a mark, as while "t-SNE" is typed: leave marks out.
const withoutMarks = (message) =>
  typeof message.data === "string"
    ? { ...message, data: message.data.replace(/[-:*~^+]+(?=\s|$)/g, "") }
    : message;

// A browser starts no Worker for a page that is opened from disk. There, the theme's search runs in
// a hidden frame instead: this class stands in for Worker, with the part of it that the theme uses.
// The theme looks for its name, and takes the index from search/search_index.js.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      const deliver = (target, kind, data) =>
        setTimeout(() => target.dispatchEvent(new kind.MessageEvent("message", { data })));
      inside.postMessage = (data) => deliver(this, window, data);
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      this.started = new Promise((started) => script.addEventListener("load", started));
      this.postMessage = (data) => this.started.then(() => deliver(inside, inside, withoutMarks(data)));
      frame.contentDocument.body.append(script);
    }
  };
} else {
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (data) {
    post.call(this, withoutMarks(data));
  };
}
