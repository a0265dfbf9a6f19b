// The entry point: shows the page for the address, and passes events to it.

import { connect } from "./connection.js";
import * as board from "./board.js";
import * as control from "./control.js";
import * as drawing from "./drawing.js";
import { byId, setText } from "./elements.js";
import * as heartbeat from "./heartbeat.js";
import * as importing from "./import.js";
import * as lines from "./lines.js";
import * as race from "./race.js";
import * as requests from "./requests.js";
import * as sleepers from "./sleepers.js";
import { apply, reset, state } from "./state.js";
import * as techniques from "./techniques.js";
import * as touch from "./touch.js";

const pages = { techniques, race, sleepers, board, import: importing, lines, requests, drawing };
for (const [name, page] of Object.entries(pages)) page.mount(byId(name));
control.mount();
touch.mount();

function currentPage() {
  const name = location.hash.slice(1);
  return name in pages ? name : "techniques";
}

function showPage() {
  const current = currentPage();
  for (const name of Object.keys(pages)) byId(name).hidden = name !== current;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#${current}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `Headway lab: ${current}`;
  update();
}

let isUpdating = false;

/** Shows the state soon, once for all changes up to then. */
function updateSoon() {
  if (isUpdating) return;
  isUpdating = true;
  setTimeout(() => {
    isUpdating = false;
    update();
  }, 30);
}

function update() {
  pages[currentPage()].update(state);
  control.update(state);
}

/** Keeps headings and focused elements from being scrolled behind the bar at the top. */
function keepClearOfBar() {
  const bar = byId("heartbeat");
  const height = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
  document.documentElement.style.scrollPaddingTop = `${height + 16}px`;
}

/** A page begins at its heading, not at the position to which the browser scrolls because of the address. */
function showHeading() {
  if (location.hash !== "") scrollTo(0, 0);
}

window.addEventListener("hashchange", () => {
  showPage();
  showHeading();
});
window.addEventListener("load", () => requestAnimationFrame(showHeading));
new ResizeObserver(keepClearOfBar).observe(byId("heartbeat"));
window.addEventListener("resize", keepClearOfBar);
techniques.onSelect(updateSoon);
showPage();
heartbeat.start();
connect({
  onReset() {
    reset();
    heartbeat.reset();
    drawing.reset();
    touch.reset();
    updateSoon();
  },
  onEvents(events) {
    events.forEach(apply);
    // Immediately, and not with the next update, because people notice the delay of a response.
    for (const event of events) if (event.type === "touch") touch.answered(event);
    updateSoon();
  },
  onBeats: heartbeat.add,
  onState: (text) => setText(byId("connection"), text),
});
