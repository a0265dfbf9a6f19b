// “Touch me”: the main queue responds to a touch. While it is busy, the button looks like one in an app that hangs.

import { byId, html, milliseconds, setText } from "./elements.js";

/** Distinguishes this window from others, which also send touches. */
const viewer = Math.random().toString(36).slice(2);
/**
 * Touches without a response, the oldest first: their numbers, after the server has assigned them, and their local
 * times.
 */
let pending = [];
let lastAnswered = 0;
/** For the strip: when each touch began and stopped waiting, in local time. */
let waits = [];
/** The newest position of the pointer that has not been sent to the main queue. */
let wanted = null;
let isMoving = false;
let parts = {};

async function send(x, y) {
  try {
    const response = await fetch("api/touch", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ viewer, x, y }),
    });
    return response.ok ? (await response.json()).number : null;
  } catch {
    return null;
  }
}

function clamp(value) {
  return Math.min(1, Math.max(0, value));
}

function place(event) {
  const box = parts.button.getBoundingClientRect();
  // A key press counts as a touch in the middle.
  if (!event.clientX && !event.clientY) return [0.5, 0.5];
  return [clamp((event.clientX - box.left) / box.width), clamp((event.clientY - box.top) / box.height)];
}

async function press(event) {
  const touch = { number: null, from: performance.now(), to: null };
  pending.push(touch);
  waits = [...waits, touch].slice(-100);
  show();
  const number = await send(...place(event));
  if (number === null) pending = pending.filter((other) => other !== touch);
  touch.number = number;
  settle();
  show();
}

/** Makes the dot follow the pointer. Each position is shown after the main queue has responded to it. */
async function move(event) {
  wanted = place(event);
  if (isMoving) return;
  isMoving = true;
  while (wanted) {
    const next = wanted;
    wanted = null;
    const number = await send(...next);
    // The next position is sent after the response to this one.
    while (number !== null && lastAnswered < number) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  isMoving = false;
}

/** Removes the touches that have received a response, and shows the last of them. */
function settle(event = null) {
  const now = performance.now();
  const answered = pending.filter((touch) => touch.number !== null && touch.number <= lastAnswered);
  if (answered.length === 0) return;
  pending = pending.filter((touch) => !answered.includes(touch));
  for (const touch of answered) touch.to = now;
  const longest = event?.number === answered[0].number ? event.waited : now - answered[0].from;
  const count = answered.length === 1 ? "Answered" : `${answered.length} touches answered`;
  setText(parts.answer, `${count} after ${milliseconds(longest)}`);
  parts.answer.className = longest > 100 ? "cancelled" : "finished";
  parts.button.classList.remove("answered");
  // Restarts the animation.
  void parts.button.offsetWidth;
  parts.button.classList.add("answered");
}

function show() {
  const isWaiting = pending.length > 0 && performance.now() - pending[0].from > 150;
  parts.button.classList.toggle("frozen", isWaiting);
  parts.button.setAttribute("aria-busy", String(isWaiting));
  if (!isWaiting) return setText(parts.label, "Touch me");
  setText(parts.label, `No answer for ${milliseconds(performance.now() - pending[0].from)}`);
}

export function mount() {
  parts = { button: byId("touch"), label: html("span"), dot: html("span", { class: "dot" }), answer: byId("answer") };
  setText(parts.label, "Touch me");
  parts.button.replaceChildren(parts.dot, parts.label);
  parts.button.addEventListener("click", press);
  parts.button.addEventListener("pointermove", move);
  setInterval(show, 100);
}

/** Returns the touches that waited for long, for the strip: when each began and stopped waiting, in local time. */
export function longWaits() {
  return waits.filter(({ from, to }) => (to ?? performance.now()) - from > 100);
}

export function answered(event) {
  lastAnswered = Math.max(lastAnswered, event.number);
  settle(event);
  show();
  if (event.viewer !== viewer) return;
  parts.dot.style.left = `${event.x * 100}%`;
  parts.dot.style.top = `${event.y * 100}%`;
}

/** Called when the lab has restarted: forgets the touches that were sent to it. */
export function reset() {
  pending = [];
  lastAnswered = 0;
  show();
}
