// The connection to the lab: receives its events, and sends requests to change it.

/** The position of the last event that was received. */
let position = "";
let source = null;

/** Listens for events while the page is visible. The browser reconnects automatically if the server was unavailable. */
export function connect(handlers) {
  // A browser has six connections to a host, and each stream occupies one: hidden tabs would occupy all of them.
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
    // A server that refuses ends the stream permanently, so a new stream replaces it.
    if (opened.readyState !== EventSource.CLOSED) return;
    setTimeout(() => {
      if (source !== opened) return;
      close();
      open({ onReset, onEvents, onBeats, onState });
    }, 500);
  });
}

/** Requests a change, and returns whether it succeeded. */
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

/** Returns a sentence about a task. */
export async function diagnosis(task) {
  try {
    const response = await fetch(`api/diagnosis/${task}`);
    return response.ok ? await response.text() : null;
  } catch {
    return null;
  }
}
