// 200 operations that sleep, on one of Headway's operation queues and on a dispatch queue.

import { post } from "./connection.js";
import { html, seconds, setText } from "./elements.js";

const count = 200;
let parts = {};
const names = { w: "waiting", s: "executing", f: "finished" };

function side(key, title) {
  const cells = Array.from({ length: count }, () => html("i", { class: "sleeper" }));
  const grid = html("div", { class: "sleepers", id: `sleepers-${key}`, role: "img" }, ...cells);
  const time = html("output", { class: "clock", id: `sleepers-${key}-time` }, "0.00 s");
  const text = html("p", { id: `sleepers-${key}-text` });
  const element = html("section", {}, html("h2", {}, title), time, grid, text);
  return { element, cells, grid, time, text, states: "" };
}

export function mount(page) {
  const start = html("button", { type: "button", id: "sleepers-start" }, "Let them sleep");
  start.addEventListener("click", () => post("api/sleepers/start"));
  const cancel = html("button", { type: "button", id: "sleepers-cancel", disabled: true }, "Cancel");
  cancel.addEventListener("click", () => post("api/sleepers/cancel"));
  parts = {
    start,
    cancel,
    message: html("p", { id: "sleepers-message", role: "status" }),
    headway: side("headway", "Operation queue (Headway)"),
    dispatch: side("dispatch", "Dispatch queue, concurrent"),
  };
  page.append(
    html(
      "section",
      { class: "wide" },
      html("h2", {}, `${count} operations that sleep`),
      html(
        "p",
        {},
        "Each sleeps half a second, as one does that waits for a disk or a lock. A sleeper needs a thread but no ",
        "processor. Headway replaces each thread that is blocked. Dispatch adds about one thread per second while its ",
        "threads are blocked.",
      ),
      html("div", { class: "bar" }, start, cancel),
      parts.message,
    ),
    parts.headway.element,
    parts.dispatch.element,
  );
}

function updateSide(part, shown) {
  const states = shown?.states ?? "w".repeat(count);
  if (states !== part.states) {
    for (let index = 0; index < count; index += 1) {
      if (states[index] !== part.states[index]) part.cells[index].className = `sleeper ${names[states[index]]}`;
    }
    part.states = states;
  }
  const { asleep = 0, mostAsleep = 0, finished = 0, seconds: time = 0 } = shown ?? {};
  setText(part.time, seconds(time));
  const text = `${finished} have finished, ${asleep} asleep; at most ${mostAsleep} slept at the same time`;
  setText(part.text, text);
  part.grid.setAttribute("aria-label", text);
}

function messageOf(event) {
  if (!event) return "";
  if (event.phase === "cancelled") return "Cancelled.";
  const { headway, dispatch } = event;
  if (event.phase === "finished") {
    const factor = dispatch.seconds / Math.max(0.001, headway.seconds);
    const times = `Headway: ${seconds(headway.seconds)}. Dispatch: ${seconds(dispatch.seconds)}`;
    return `${times}, ${factor.toFixed(1)} times as long.`;
  }
  return headway.finished === count ? "Headway has finished, and Dispatch continues." : "They sleep.";
}

export function update(state) {
  const event = state.workshops.sleepers;
  const isRunning = event?.phase === "running";
  parts.start.disabled = isRunning;
  parts.cancel.disabled = !isRunning;
  updateSide(parts.headway, event?.headway);
  updateSide(parts.dispatch, event?.dispatch);
  parts.message.dataset.run = event?.run ?? 0;
  setText(parts.message, messageOf(event));
}

