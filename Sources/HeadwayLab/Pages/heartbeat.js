// The strip, with one mark per beat of the main queue. A gap is a time when the main queue did not respond.

import { byId, milliseconds, setText } from "./elements.js";
import { longWaits } from "./touch.js";

const shownMilliseconds = 10000;
const lateMilliseconds = 100;

let beats = [];
/** The offset from local time to the lab's time. */
let offset = null;

export function reset() {
  beats = [];
  offset = null;
}

export function add(times) {
  beats.push(...times);
  const difference = times.at(-1) - performance.now();
  // A beat never arrives before it happens, so the largest difference is the one with the shortest delay.
  if (offset === null || difference > offset) offset = difference;
  const end = beats.at(-1);
  beats = beats.filter((time) => time > end - 2 * shownMilliseconds);
}

function draw(canvas, now, style) {
  const context = canvas.getContext("2d");
  const scale = window.devicePixelRatio || 1;
  const width = Math.max(1, Math.round(canvas.clientWidth * scale));
  if (canvas.width !== width) canvas.width = width;
  const height = Math.round(36 * scale);
  if (canvas.height !== height) canvas.height = height;
  context.clearRect(0, 0, width, height);
  const x = (time) => width - ((now - time) / shownMilliseconds) * width;
  let last = null;
  for (const time of [...beats, now]) {
    if (last !== null && time - last > lateMilliseconds) {
      context.fillStyle = style.cancelled;
      context.fillRect(x(last), height * 0.25, x(time) - x(last), height * 0.5);
    }
    last = time;
  }
  // Touches that waited, from the touch to the response, one below the other.
  context.fillStyle = style.touch;
  longWaits().forEach(({ from, to }, index) => {
    const [begin, end] = [x(from + offset), to === null ? width : x(to + offset)];
    const y = height * (0.3 + 0.1 * (index % 4));
    context.fillRect(begin, y, Math.max(scale, end - begin), Math.max(1, height * 0.06));
  });
  context.fillStyle = style.finished;
  for (const time of beats) context.fillRect(x(time), 0, Math.max(1, scale / 2), height);
}

function colors() {
  const probe = (name) => {
    const element = document.createElement("span");
    element.className = name;
    document.body.append(element);
    const color = getComputedStyle(element).color;
    element.remove();
    return color;
  };
  return { finished: probe("finished"), cancelled: probe("cancelled"), touch: probe("touch-mark") };
}

export function start() {
  const canvas = byId("strip");
  let style = colors();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (style = colors()));
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  setInterval(() => {
    if (offset === null) return;
    const now = performance.now() + offset;
    const since = now - (beats.at(-1) ?? now);
    // Beats arrive ten times per second.
    const isFrozen = since > 300;
    setText(byId("pulse"), isFrozen ? `No beat for ${milliseconds(since)}` : "Beats sixty times a second");
    byId("pulse").className = isFrozen ? "cancelled" : "finished";
    const isDue = !calm.matches || Math.floor(now / 1000) !== Math.floor((now - 100) / 1000);
    if (isDue) draw(canvas, now, style);
  }, 100);
}
