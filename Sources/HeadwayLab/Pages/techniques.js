// The page of the seven techniques: the running one, its table and its log.

import * as comparison from "./comparison.js";
import { post } from "./connection.js";
import { byId, html, milliseconds, setText } from "./elements.js";
import * as graph from "./graph.js";
import { techniques } from "./state.js";
import * as timeline from "./timeline.js";

/** The technique that the user has selected. Null for the newest. */
let chosen = null;
/** Runs are compared as objects, because their numbers restart when the lab does. */
let newest = null;
let selectionChanged = () => {};
const shown = { run: undefined, lines: 0, counts: [], lists: new Map() };

export function onSelect(callback) {
  selectionChanged = callback;
}

/** The run that the page shows. */
export function shownRun(state) {
  if (state.newest !== newest) {
    newest = state.newest;
    chosen = null;
  }
  return state.runs.get(chosen) ?? state.newest;
}

export function mount() {
  const body = byId("choices").tBodies[0];
  for (const [name, title] of techniques) {
    const show = () => {
      chosen = name;
      selectionChanged();
    };
    const run = html("button", { type: "button", "data-run": name, "aria-label": `Run: ${title}` }, "Run");
    run.addEventListener("click", () => post("api/run", { techniques: [name] }));
    const properties = { type: "button", disabled: true, onclick: show, "aria-label": `Show: ${title}` };
    const look = html("button", properties, "Show");
    const actions = html("td", {}, run, " ", look);
    const time = html("td", { class: "number" }, "–");
    const gap = html("td", { class: "number" }, "–");
    body.append(html("tr", { "data-technique": name }, html("td", {}, title), actions, time, gap));
  }
  byId("run-all").addEventListener("click", () => post("api/run", { techniques: techniques.map(([name]) => name) }));
}

export function update(state) {
  const run = shownRun(state);
  updateChoices(state, run);
  updateTable(run);
  updateLog(run);
  timeline.update(run);
  graph.update(run);
  comparison.update(state);
}

function progressText(state, name, run) {
  if (state.pending.includes(name)) return "waits";
  if (!run) return "–";
  if (!run.finished) return "runs";
  return run.finished.time.toFixed(2) + (run.finished.isCancelled ? " (cancelled)" : "");
}

function updateChoices(state, shownOne) {
  for (const row of byId("choices").tBodies[0].rows) {
    const name = row.dataset.technique;
    const run = state.runs.get(name);
    const [, actions, time, gap] = row.cells;
    actions.lastElementChild.disabled = !run;
    setText(time, progressText(state, name, run));
    setText(gap, run?.finished ? milliseconds(run.finished.gap) : "–");
    gap.className = `number ${run?.finished ? (run.finished.gap > 100 ? "cancelled" : "finished") : ""}`;
    if (run && run === shownOne) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}

function section(title, items) {
  const list = html("ul", {}, ...items.map((item) => html("li", {}, item)));
  return html("div", {}, html("h3", {}, title), list);
}

function begin(run) {
  const initial = [1, 2, 3, 4, 5].map((number) => `Item Initial-${number}`);
  byId("sections").replaceChildren(section("Section 0", initial));
  byId("log").replaceChildren();
  Object.assign(shown, { run, lines: 0, counts: run?.tasks.map(() => 0) ?? [], lists: new Map() });
}

function updateTable(run) {
  if (shown.run !== run) begin(run);
  if (!run) return;
  for (const task of run.tasks) {
    const index = task.number - 1;
    for (const item of task.items.slice(shown.counts[index])) {
      if (!shown.lists.has(task.number)) {
        const element = section(`Section ${task.number}`, []);
        element.dataset.task = task.number;
        shown.lists.set(task.number, element.lastElementChild);
        const later = [...byId("sections").children].find((other) => Number(other.dataset.task) > task.number);
        byId("sections").insertBefore(element, later ?? null);
      }
      shown.lists.get(task.number).append(html("li", {}, `Item ${task.number}-${item.number}`));
    }
    shown.counts[index] = task.items.length;
  }
}

/** Returns a line in three parts. If there is not enough room, the date is cut off first, and the event remains. */
function logLine(line) {
  const [, date, origin, what] = line.match(/^(\S+ )(.*\] )(.*)$/) ?? [line, "", "", line];
  const part = (name, text) => html("span", { class: name }, text);
  return html("div", { title: line }, part("date", date), part("origin", origin), part("what", what));
}

function updateLog(run) {
  if (!run || shown.lines === run.lines.length) return;
  const log = byId("log");
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 30;
  log.append(...run.lines.slice(shown.lines).map(logLine));
  shown.lines = run.lines.length;
  if (isAtEnd) log.scrollTop = log.scrollHeight;
}
