// What happens in the lab, and what it is asked to do.

/** Listens for events; the browser connects again by itself when the server was away. */
export function connect({ onReset, onEvents, onBeats, onState }) {
  const source = new EventSource("events");
  source.addEventListener("reset", () => onReset());
  source.addEventListener("message", (message) => onEvents(JSON.parse(message.data)));
  source.addEventListener("beats", (message) => onBeats(JSON.parse(message.data)));
  source.addEventListener("open", () => onState("Connected"));
  source.addEventListener("error", () => {
    onState("The lab does not answer. Trying again …");
    // A server that refuses ends the stream for good: a new one begins anew.
    if (source.readyState === EventSource.CLOSED) {
      setTimeout(() => connect({ onReset, onEvents, onBeats, onState }), 500);
    }
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
