// The search runs in a worker. For pages that were opened from disk, browsers start none: there, this class runs the
// same script in a hidden frame. The script finds it under this name.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.append(frame);
    const inner = frame.contentWindow;
    inner.document.open();
    inner.document.write("<!doctype html><title>search</title><body>");
    inner.document.close();
    inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    inner.importScripts = (...urls) => urls.reduce((before, each) => before.then(() => load(each)), Promise.resolve());
    this.inner = inner;
    this.ready = load(url);

    function load(source) {
      return new Promise((loaded, failed) => {
        const script = inner.document.createElement("script");
        script.src = new URL(source, document.baseURI);
        script.onload = loaded;
        script.onerror = failed;
        inner.document.body.append(script);
      });
    }
  }

  postMessage(data) {
    this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
  }
}

if (location.protocol === "file:") {
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
