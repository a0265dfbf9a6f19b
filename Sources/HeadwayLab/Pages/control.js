// Cancelling, suspending and limiting; and for each task its priority, its dependencies, and why it does not run.

import { diagnosis, post } from "./connection.js";
import { byId, html, setText } from "./elements.js";

/** The last position of the slider means that there is no limit. */
const noLimit = 6;
const priorities = [
  [-8, "very low"],
  [-4, "low"],
  [0, "normal"],
  [4, "high"],
  [8, "very high"],
];
let runOfTasks = null;
let isSuspended = false;
let isSliding = false;

export function mount() {
  byId("cancel").addEventListener("click", () => post("api/cancel"));
  byId("suspend").addEventListener("click", () => post("api/settings", { isSuspended: !isSuspended }));
  const slider = byId("maximum");
  slider.addEventListener("input", () => {
    isSliding = true;
    setText(byId("maximum-text"), limitText(Number(slider.value)));
    const value = Number(slider.value);
    post("api/settings", { maximum: value === noLimit ? -1 : value }).then(() => (isSliding = false));
  });
}

const limitText = (value) => (value === noLimit ? "no limit" : String(value));
const priorityText = (value) => priorities.find(([number]) => number === value)?.[1] ?? String(value);

export async function explain(task) {
  const text = await diagnosis(task);
  setText(byId("diagnosis"), text ?? "Only operations that are in a queue have a diagnosis.");
}

function changePriority(task, step) {
  const values = priorities.map(([value]) => value);
  const index = values.indexOf(task.priority) + step;
  if (values[index] !== undefined) post("api/priority", { task: task.number, priority: values[index] });
}

/** A task that is dropped on another precedes it: its priority is one level higher. */
function dropOn(task, event) {
  event.preventDefault();
  const dragged = Number(event.dataTransfer.getData("text/plain"));
  if (!dragged || dragged === task.number) return;
  const above = priorities.find(([value]) => value > task.priority)?.[0] ?? task.priority;
  post("api/priority", { task: dragged, priority: above });
}

function taskRow(task, run) {
  const { number } = task;
  const button = (text, label, action) =>
    html("button", { type: "button", "aria-label": `${label} task ${number}`, onclick: action }, text);
  const others = run.tasks.filter((other) => other.number !== number);
  const select = html(
    "select",
    { "aria-label": `Task ${number} waits for` },
    html("option", { value: "" }, "after …"),
    ...others.map((other) => html("option", { value: other.number }, `after ${other.number}`)),
  );
  select.addEventListener("change", () => {
    if (select.value) post("api/dependency", { task: number, other: Number(select.value) });
    select.value = "";
  });
  const row = html(
    "li",
    { "data-task": number },
    html("span", { class: "name" }),
    button("▲", "Raise the priority of", () => changePriority(task, 1)),
    button("▼", "Lower the priority of", () => changePriority(task, -1)),
    select,
    button("Cancel", "Cancel", () => post("api/cancel", { task: number })),
    button("Why?", "Explain", () => explain(number)),
  );
  row.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", String(number)));
  row.addEventListener("dragover", (event) => event.preventDefault());
  row.addEventListener("drop", (event) => dropOn(task, event));
  return row;
}

function hint(run) {
  if (!run || run.finished) return "Suspension and limit also hold for the technique that comes next.";
  const missing = ["suspension", "limit", "priority", "dependency"].filter((name) => !run.controls.includes(name));
  if (missing.length === 0) return `“${run.title}” runs on a queue: all of this can be done to it.`;
  return `“${run.title}” has no ${missing.join(", ")}: only cancelling works, by a flag of its own.`;
}

function updateTask(row, task, run) {
  const isActive = !run.finished;
  const isWaiting = isActive && task.state === "waiting";
  const name = row.querySelector(".name");
  const parts = [`Task ${task.number}: ${task.state}`];
  if (task.items.length > 0) parts.push(`${task.items.length} items`);
  if (task.priority !== 0) parts.push(`${priorityText(task.priority)} priority`);
  setText(name, parts.join(", "));
  name.className = `name ${task.state}`;
  const [raise, lower, cancel, why] = row.querySelectorAll("button");
  const hasPriority = isWaiting && run.controls.includes("priority");
  raise.disabled = !hasPriority || task.priority === 8;
  lower.disabled = !hasPriority || task.priority === -8;
  row.draggable = hasPriority;
  row.querySelector("select").disabled = !isWaiting || !run.controls.includes("dependency");
  cancel.disabled = !isActive || !["waiting", "executing"].includes(task.state);
  why.disabled = !isActive || !run.controls.includes("priority");
}

export function update(state) {
  const run = state.newest;
  isSuspended = state.settings.isSuspended;
  const suspend = byId("suspend");
  setText(suspend, isSuspended ? "Resume" : "Suspend");
  suspend.setAttribute("aria-pressed", String(isSuspended));
  if (!isSliding) {
    const value = state.settings.maximum === -1 ? noLimit : Math.min(noLimit - 1, Math.max(1, state.settings.maximum));
    byId("maximum").value = value;
    setText(byId("maximum-text"), limitText(value));
  }
  byId("cancel").disabled = !run || run.finished !== null;
  setText(byId("control-hint"), hint(run));
  const list = byId("tasks");
  if (runOfTasks !== run) {
    runOfTasks = run;
    list.replaceChildren(...(run?.tasks ?? []).map((task) => taskRow(task, run)));
    setText(byId("diagnosis"), "");
  }
  run?.tasks.forEach((task, index) => updateTask(list.children[index], task, run));
}
