// Search runs in a worker, which browsers do not start from a file. There, run the same script in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class {
    onmessage = null;

    constructor(address) {
      this.frame = document.body.appendChild(Object.assign(document.createElement("iframe"), { hidden: true, title: "search" }));
      this.inside = this.frame.contentWindow;
      // As between threads: later, and a copy that belongs to the receiver.
      this.inside.postMessage = (data) => setTimeout(() => this.onmessage?.({ data: structuredClone(data) }));
      this.ready = new Promise((loaded) => {
        const src = new URL(address, location.href).href;
        this.inside.document.body.append(Object.assign(this.inside.document.createElement("script"), { src, onload: loaded }));
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inside.onmessage({ data: this.inside.structuredClone(data) }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
