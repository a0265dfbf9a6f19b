// The canvas of a race: one lane per technique, one bar per task, one mark per item, and a triangle where the main
// queue showed the items.

import { seconds } from "./elements.js";

const taskHeight = 9;
const laneGap = 16;
const bottom = 18;
let palette = null;

/**
 * The time when the last task had done its work. Null until all have ended. A task that has done its work passes the
 * result to the main queue, which might show it before the task ends.
 */
export const workEnd = (lane) =>
  lane.tasks.every((task) => task.end !== undefined)
    ? Math.max(...lane.tasks.map((task) => task.items.at(-1) ?? task.end))
    : null;
/** The time when the main queue had shown all items. Null before that. */
export const screenEnd = (lane) => {
  const times = lane.tasks.map((task) => task.shown);
  return times.every((time) => time !== undefined) ? Math.max(...times) : null;
};

function colors(canvas) {
  const style = getComputedStyle(document.body);
  const color = (name) => {
    canvas.style.color = `var(--${name})`;
    return getComputedStyle(canvas).color;
  };
  return {
    text: color("text"),
    quiet: color("quiet"),
    line: color("line"),
    executing: color("executing"),
    finished: color("finished"),
    cancelled: color("cancelled"),
    font: `13px ${style.fontFamily}`,
  };
}

/** Discards the cached colors, because the color scheme may have changed. */
export function refreshColors() {
  palette = null;
}

/** Draws the lanes of a race at a given time of the race. */
export function drawLanes(canvas, { lanes, event }, now) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const isNarrow = width < 560;
  const left = isNarrow ? 0 : 190;
  const labelHeight = isNarrow ? 18 : 0;
  const laneHeight = labelHeight + 5 * taskHeight + laneGap;
  const height = lanes.length * laneHeight + bottom + 4;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
  }
  palette ??= colors(canvas);
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = palette.font;
  const last = Math.max(now, ...lanes.map((lane) => Math.max(lane.elapsed, lane.end ?? 0)));
  const span = Math.max(5.5, last * 1.02);
  const x = (time) => left + (time / span) * (width - left - 62);
  drawAxis(context, x, span, height);
  const settings = { x, now, isNarrow, labelHeight, isRunning: event.phase === "running" };
  lanes.forEach((lane, index) => drawLane(context, lane, index * laneHeight, settings));
  if (event.phase !== "running") return;
  context.fillStyle = palette.cancelled;
  context.fillRect(x(now), 0, 1.5, height - bottom);
}

function drawAxis(context, x, span, height) {
  context.textAlign = "left";
  for (let time = 0; time <= span; time += 1) {
    context.fillStyle = palette.line;
    context.fillRect(x(time), 0, 1, height - bottom);
    context.fillStyle = palette.quiet;
    context.fillText(`${time} s`, x(time) + 3, height - 5);
  }
}

function drawLane(context, lane, top, { x, now, isNarrow, labelHeight, isRunning }) {
  context.textAlign = "left";
  context.fillStyle = palette.text;
  context.fillText(lane.title, 0, isNarrow ? top + 13 : top + 28);
  const y = (index) => top + labelHeight + index * taskHeight;
  lane.tasks.forEach((task, index) => {
    if (task.begin === undefined && task.items.length === 0) return;
    const begin = task.begin ?? task.items[0];
    const end = task.end ?? (isRunning ? now : task.items.at(-1) ?? begin);
    context.fillStyle = task.end === undefined ? palette.executing : palette.finished;
    context.globalAlpha = 0.35;
    context.fillRect(x(begin), y(index) + 1, Math.max(2, x(end) - x(begin)), taskHeight - 2);
    context.globalAlpha = 1;
    for (const item of task.items) context.fillRect(x(item) - 1, y(index) + 1, 2, taskHeight - 2);
    if (task.shown === undefined) return;
    context.fillStyle = palette.text;
    context.beginPath();
    context.moveTo(x(task.shown) + 6, y(index) + taskHeight / 2);
    context.lineTo(x(task.shown), y(index));
    context.lineTo(x(task.shown), y(index) + taskHeight);
    context.fill();
  });
  const end = workEnd(lane);
  if (end === null) return;
  context.fillStyle = palette.text;
  context.fillText(seconds(end), x(Math.max(end, screenEnd(lane) ?? 0)) + 12, y(2) + 9);
}

