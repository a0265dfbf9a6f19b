// All techniques that have run, side by side.

import { byId, html, milliseconds } from "./elements.js";
import { techniques } from "./state.js";

let drawn = null;

/** Returns whether all items arrived in the order of tasks and items. */
function isInOrder(order) {
  return order.every(([task, item], index) => {
    const [lastTask, lastItem] = order[index - 1] ?? [0, 0];
    return task > lastTask || (task === lastTask && item > lastItem);
  });
}

function orderText(run) {
  const first = run.order.slice(0, 8).map(([task, item]) => `${task}-${item}`);
  return `${isInOrder(run.order) ? "in order" : "mixed"}: ${first.join(" ")} …`;
}

function row(run) {
  const threads = new Set(run.tasks.flatMap((task) => task.items.map((item) => item.thread)));
  const number = (text) => html("td", { class: "number" }, text);
  return html(
    "tr",
    { "data-compared": run.technique },
    html("th", { scope: "row" }, run.title, html("div", { class: "hint" }, orderText(run))),
    number(run.finished.time.toFixed(2)),
    number(threads.size),
    number(milliseconds(run.finished.gap)),
  );
}

export function update(state) {
  const runs = techniques.map(([name]) => state.runs.get(name)).filter((run) => run?.finished);
  if (drawn && runs.length === drawn.length && runs.every((run, index) => run === drawn[index])) return;
  drawn = runs;
  if (runs.length === 0) return byId("comparison").replaceChildren(html("p", {}, "Nothing has run yet."));
  const heads = ["Technique", "Seconds", "Threads", "Longest gap"];
  const numbers = heads.slice(1);
  const cells = heads.map((text) => html("th", { scope: "col", class: numbers.includes(text) && "number" }, text));
  const head = html("tr", {}, ...cells);
  byId("comparison").replaceChildren(
    html("table", {}, html("thead", {}, head), html("tbody", {}, ...runs.map(row))),
  );
}
