// What happens in the lab, and what it is asked to do.

/** The last that is here of what happened. */
let position = "";
let source = null;

/** Listens for events while the page is visible; the browser connects again by itself when the server was away. */
export function connect(handlers) {
  // A browser has six connections with a host, and each stream keeps one: hidden tabs would take them all.
  const change = () => {
    if (document.hidden) close();
    else if (!source) open(handlers);
  };
  document.addEventListener("visibilitychange", change);
  change();
}

function close() {
  source?.close();
  source = null;
}

function open({ onReset, onEvents, onBeats, onState }) {
  const opened = new EventSource(`events?after=${position}`);
  source = opened;
  opened.addEventListener("reset", () => onReset());
  opened.addEventListener("message", (message) => {
    position = message.lastEventId;
    onEvents(JSON.parse(message.data));
  });
  opened.addEventListener("beats", (message) => onBeats(JSON.parse(message.data)));
  opened.addEventListener("open", () => onState("Connected"));
  opened.addEventListener("error", () => {
    onState("The lab does not answer. Trying again …");
    // A server that refuses ends the stream for good: a new one takes its place.
    if (opened.readyState !== EventSource.CLOSED) return;
    setTimeout(() => {
      if (source !== opened) return;
      close();
      open({ onReset, onEvents, onBeats, onState });
    }, 500);
  });
}

/** Asks for a change; says whether it was made. */
export async function post(path, body = {}) {
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.ok;
  } catch {
    return false;
  }
}

/** A sentence about a task. */
export async function diagnosis(task) {
  try {
    const response = await fetch(`api/diagnosis/${task}`);
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}
