// The seven techniques at the same time, on one axis.

import { post } from "./connection.js";
import { html, seconds, setText } from "./elements.js";
import { drawLanes, refreshColors, screenEnd, workEnd } from "./lanes.js";

let parts = {};
let shown = null;
/**
 * The largest difference between the race's time and local time, which is that of the event with the shortest delay.
 */
let offset = null;
let raceNumber = null;
let rows = "";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

const headCell = (text, isNumber) => html("th", { scope: "col", class: isNumber && "number" }, text);

export function mount(page) {
  const start = html("button", { type: "button", id: "race-start" }, "Start the race");
  const withMain = html("input", { type: "checkbox", id: "race-main", checked: true });
  start.addEventListener("click", () => post("api/race/start", { withMain: withMain.checked }));
  const cancel = html("button", { type: "button", id: "race-cancel", disabled: true }, "Cancel");
  cancel.addEventListener("click", () => post("api/race/cancel"));
  parts = {
    start,
    cancel,
    canvas: html("canvas", { id: "race-lanes", role: "img", "aria-label": "No race yet" }),
    message: html("p", { id: "race-message", role: "status" }),
    body: html("tbody"),
  };
  const heads = ["Technique", "Work done", "On screen"];
  page.append(
    html(
      "section",
      { class: "wide" },
      html("h2", {}, "All at the same time"),
      html(
        "p",
        {},
        "Each does the same: 5 tasks of 10 items of 0.1 seconds. A bar is a task, and a triangle the moment when the ",
        "main queue shows its items. With the main thread technique in the race nothing is shown until that has ",
        "finished: touch the button at the top in the meantime.",
      ),
      html(
        "div",
        { class: "bar" },
        start,
        cancel,
        html("label", { for: "race-main" }, withMain, " with the main thread technique"),
      ),
      parts.message,
      html("div", { class: "lanes" }, parts.canvas),
    ),
    html(
      "section",
      { class: "wide" },
      html("h2", {}, "The order of arrival"),
      html(
        "table",
        { id: "race-table" },
        html(
          "thead",
          {},
          html("tr", {}, ...heads.map((text, index) => headCell(text, index > 0))),
        ),
        parts.body,
      ),
    ),
  );
  new ResizeObserver(() => shown && draw()).observe(parts.canvas);
  let last = 0;
  const frame = (time) => {
    requestAnimationFrame(frame);
    const isDue = !calm.matches || time - last > 1000;
    if (!isDue || shown?.event.phase !== "running" || page.hidden) return;
    last = time;
    draw();
  };
  requestAnimationFrame(frame);
}

function laneOf(state, technique) {
  return state.workshops[`race-${technique}`];
}

/** Draws the race at its current time, which is calculated from local time. */
function draw() {
  const { event } = shown;
  const now = event.phase === "running" ? Math.max(0, performance.now() / 1000 + offset) : event.elapsed;
  drawLanes(parts.canvas, shown, now);
}

function updateTable(lanes) {
  const text = (time) => (time === null ? "–" : seconds(time));
  const sorted = lanes
    .map((lane) => ({ lane, done: workEnd(lane), screen: screenEnd(lane) }))
    .sort((one, other) => (one.done ?? Infinity) - (other.done ?? Infinity));
  const key = JSON.stringify(sorted.map(({ lane, done, screen }) => [lane.technique, text(done), text(screen)]));
  if (key === rows) return;
  rows = key;
  const cell = (time, isLate) =>
    html("td", { class: `number ${time === null ? "" : isLate ? "cancelled" : "finished"}` }, text(time));
  parts.body.replaceChildren(
    ...sorted.map(({ lane, done, screen }) =>
      html(
        "tr",
        { "data-racer": lane.technique },
        html("th", { scope: "row" }, lane.title),
        cell(done, false),
        // Later than the work by more than a frame or two: the main queue was busy.
        cell(screen, screen !== null && done !== null && screen - done > 0.1),
      ),
    ),
  );
}

function messageOf(event, lanes) {
  if (event.phase === "running") {
    const count = lanes.filter((lane) => workEnd(lane) !== null).length;
    return count === 0 ? "They run." : `${count} of ${lanes.length} have done their work.`;
  }
  if (event.phase === "cancelled") return "Cancelled.";
  return `All have arrived after ${seconds(event.elapsed)}.`;
}

export function update(state) {
  const event = state.workshops.race;
  const isRunning = event?.phase === "running";
  parts.start.disabled = isRunning;
  parts.cancel.disabled = !isRunning;
  if (!event) {
    shown = null;
    parts.body.replaceChildren();
    rows = "";
    return setText(parts.message, "");
  }
  const lanes = event.techniques.map((name) => laneOf(state, name)).filter((lane) => lane?.race === event.race);
  if (raceNumber !== event.race) [raceNumber, offset] = [event.race, null];
  const elapsed = Math.max(event.elapsed, ...lanes.map((lane) => lane.elapsed));
  const difference = elapsed - performance.now() / 1000;
  if (offset === null || difference > offset) offset = difference;
  shown = { event, lanes };
  refreshColors();
  setText(parts.message, messageOf(event, lanes));
  updateTable(lanes);
  const done = lanes.filter((lane) => workEnd(lane) !== null);
  const label = `${lanes.length} lanes; ${done.length} have done their work. The table has the times.`;
  parts.canvas.setAttribute("aria-label", label);
  if (!calm.matches || !isRunning) draw();
}
