// One row per thread, one bar per task, one mark per item.

import { byId, seconds, setText, svg } from "./elements.js";

const [left, rowHeight, width] = [90, 24, 1000];
let drawn = "";
let drawnRun = null;

/** Returns when each thread worked on each task: from the first event of the task on that thread to the last. */
function bars(run) {
  const byKey = new Map();
  const note = (thread, task, time) => {
    const key = `${thread} ${task.number}`;
    const bar = byKey.get(key) ?? { thread, task, begin: time, end: time, marks: [] };
    bar.begin = Math.min(bar.begin, time);
    bar.end = Math.max(bar.end, time);
    byKey.set(key, bar);
    return bar;
  };
  for (const task of run.tasks) {
    if (task.begin !== undefined) note(task.thread, task, task.begin);
    for (const item of task.items) note(item.thread, task, item.time).marks.push(item);
  }
  return [...byKey.values()].sort((one, other) => one.begin - other.begin);
}

function barElements(bar, x, y) {
  const { task } = bar;
  const tell = (text) => () => setText(byId("timeline-tip"), text);
  const text = `Task ${task.number} on thread ${bar.thread}: ${seconds(bar.begin)} to ${seconds(bar.end)}`;
  const rect = svg(
    "rect",
    {
      class: `bar ${task.state}`,
      x: x(bar.begin),
      y: y + 3,
      width: Math.max(2, x(bar.end) - x(bar.begin)),
      height: rowHeight - 6,
      rx: 3,
      onmouseenter: tell(text),
    },
    svg("title", {}, text),
  );
  const marks = bar.marks.map((item) => {
    const label = `Item ${task.number}-${item.number} at ${seconds(item.time)}`;
    return svg(
      "circle",
      { class: "mark", cx: x(item.time), cy: y + rowHeight / 2, r: 3, onmouseenter: tell(label) },
      svg("title", {}, label),
    );
  });
  return [rect, ...marks];
}

function axis(end, x, height) {
  const step = end > 3 ? 1 : end > 1.2 ? 0.5 : 0.2;
  const elements = [];
  for (let time = 0; time <= end + 0.001; time += step) {
    elements.push(svg("line", { class: "axis", x1: x(time), x2: x(time), y1: 0, y2: height }));
    elements.push(svg("text", { class: "quiet", x: x(time) + 3, y: height + 14 }, `${time.toFixed(1)} s`));
  }
  return elements;
}

export function update(run) {
  const key = run ? `${run.number} ${run.order.length} ${run.tasks.map((task) => task.state)}` : "";
  if (key === drawn && run === drawnRun) return;
  [drawn, drawnRun] = [key, run];
  if (!run) return byId("timeline").replaceChildren();
  const all = bars(run);
  const threads = [...new Set(all.map((bar) => bar.thread))];
  const end = Math.max(1, ...all.map((bar) => bar.end));
  const x = (time) => left + (time / end) * (width - left - 40);
  const height = Math.max(1, threads.length) * rowHeight;
  const rows = threads.map((thread, row) =>
    svg("text", { class: "quiet", x: 0, y: row * rowHeight + 16 }, `thread ${thread}`),
  );
  const content = all.flatMap((bar) => barElements(bar, x, threads.indexOf(bar.thread) * rowHeight));
  const label = `${run.title}: ${run.order.length} items on ${threads.length} threads in ${seconds(end)}`;
  const properties = { viewBox: `0 0 ${width} ${height + 20}`, role: "img", "aria-label": label };
  byId("timeline").replaceChildren(svg("svg", properties, ...axis(end, x, height), ...rows, ...content));
}
