// The dependencies between tasks, colored by state. Click a task to see why it does not run.

import { explain } from "./control.js";
import { byId, svg } from "./elements.js";

const [radius, gap, width] = [18, 84, 460];
let drawn = "";

/** Returns the length of the longest chain of dependencies before each task. */
function depths(run) {
  const depth = new Map();
  const find = (number) => {
    if (!depth.has(number)) {
      depth.set(number, 0);
      const before = run.dependencies[number] ?? [];
      depth.set(number, before.length ? 1 + Math.max(...before.map(find)) : 0);
    }
    return depth.get(number);
  };
  run.tasks.forEach((task) => find(task.number));
  return depth;
}

function places(run) {
  const depth = depths(run);
  const isFlat = Math.max(...depth.values()) === 0;
  const rows = new Map();
  return new Map(
    run.tasks.map((task) => {
      // Without dependencies, all tasks are side by side. With them, tasks with longer chains are further to the right.
      const column = isFlat ? task.number - 1 : depth.get(task.number);
      const row = rows.get(column) ?? 0;
      rows.set(column, row + 1);
      return [task.number, { x: 30 + column * gap, y: 30 + row * 46 }];
    }),
  );
}

function edge(from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const at = (distance) => [from.x + (dx / length) * distance, from.y + (dy / length) * distance];
  const [x1, y1] = at(radius);
  const [x2, y2] = at(length - radius - 2);
  const angle = (Math.atan2(dy, dx) * 180) / Math.PI;
  return [
    svg("line", { class: "edge", x1, y1, x2, y2 }),
    svg("path", { class: "arrow", d: "M0 0l-9-4v8z", transform: `translate(${x2} ${y2}) rotate(${angle})` }),
  ];
}

function node(task, place) {
  const ask = () => explain(task.number);
  const label = `Task ${task.number}, ${task.state}`;
  const textClass = task.state === "executing" ? "executing-text" : "";
  return svg(
    "g",
    {
      role: "button",
      tabindex: 0,
      "aria-label": `${label}: explain`,
      onclick: ask,
      onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), ask()),
    },
    svg("title", {}, label),
    svg("circle", { class: `node ${task.state}`, cx: place.x, cy: place.y, r: radius }),
    svg("text", { class: textClass, x: place.x, y: place.y + 4, "text-anchor": "middle" }, task.number),
  );
}

export function update(run) {
  const key = run ? JSON.stringify([run.number, run.dependencies, run.tasks.map((task) => task.state)]) : "";
  if (key === drawn) return;
  drawn = key;
  if (!run) return byId("graph").replaceChildren();
  const place = places(run);
  const edges = Object.entries(run.dependencies).flatMap(([task, others]) =>
    others.flatMap((other) => edge(place.get(other), place.get(Number(task)))),
  );
  const height = Math.max(...[...place.values()].map(({ y }) => y)) + 30;
  const nodes = run.tasks.map((task) => node(task, place.get(task.number)));
  const properties = { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Tasks and what they wait for" };
  const focused = [...byId("graph").querySelectorAll("g")].indexOf(document.activeElement);
  byId("graph").replaceChildren(svg("svg", properties, ...edges, ...nodes));
  if (focused >= 0) nodes[focused]?.focus();
}
