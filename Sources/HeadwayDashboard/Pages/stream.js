// Receives the events of the dashboard for all its pages in a browser.
//
// A browser opens six connections to a host, and each event stream occupies one. So this runs in a shared worker, and
// all pages together have one stream. If the browser has no shared workers, each page runs it for itself.

/** How long a stream can be silent. The server sends an event at least every five seconds. */
const longestSilence = 8_000;
/** How long to wait after the server has rejected a stream. */
const pause = 5_000;

/**
 * Opens the stream, and calls a function, until the returned function is called: with `open` when the stream is open,
 * with `change` when something might have changed, with `broken` when the stream has ended, and with `refused` when the
 * server does not open another one.
 */
export function listen(address, report) {
  let source = null;
  let timer = 0;
  function watch() {
    clearTimeout(timer);
    timer = setTimeout(() => {
      report("broken");
      open();
    }, longestSilence);
  }
  function open() {
    source?.close();
    source = new EventSource(address);
    watch();
    for (const name of ["open", "change"]) {
      source.addEventListener(name, () => {
        watch();
        report(name);
      });
    }
    source.addEventListener("error", () => {
      // After a rejection, the browser does not try again.
      const isRefused = source.readyState === EventSource.CLOSED;
      report(isRefused ? "refused" : "broken");
      if (!isRefused) return;
      clearTimeout(timer);
      timer = setTimeout(open, pause);
    });
  }
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

/** The visible pages: they send `show` and `hide`. A hidden page needs no events. */
const pages = new Set();
let stop = null;
/** The last event of the stream. */
let last = null;

function send(event) {
  last = event;
  for (const page of pages) page.postMessage(event);
}

function add(page, address) {
  pages.add(page);
  if (stop && last) page.postMessage(last === "change" ? "open" : last);
  stop ??= listen(address, send);
}

function remove(page) {
  pages.delete(page);
  if (pages.size > 0) return;
  stop?.();
  stop = last = null;
}

if (typeof SharedWorkerGlobalScope !== "undefined") {
  addEventListener("connect", (connection) => {
    const page = connection.ports[0];
    page.addEventListener("message", (message) => {
      if (message.data.isVisible) add(page, message.data.address);
      else remove(page);
    });
    page.start();
  });
}
