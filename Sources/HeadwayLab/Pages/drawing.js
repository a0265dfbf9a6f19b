// A list of thousands of cells. Only the cells on the screen are drawn.

import { post } from "./connection.js";
import { html, setText, thousands } from "./elements.js";

// The same values as in the server's workshop.
const [rowCount, contentCount] = [5000, 400];
const rowHeight = 64;
let parts = {};
let cells = new Map();
let ready = new Set();
let wanted = null;
let isAsking = false;
/** Distinguishes this window from others, which show other cells. */
const viewer = Math.random().toString(36).slice(2);

export function mount(page) {
  const inner = html("div");
  inner.style.height = `${rowCount * rowHeight}px`;
  const properties = { class: "cells", id: "cells", tabindex: "0", role: "region", "aria-label": "Cells" };
  const list = html("div", properties, inner);
  list.addEventListener("scroll", showRows);
  const jump = html("button", { type: "button", id: "fling" }, "Scroll through it");
  jump.addEventListener("click", fling);
  parts = { list, inner, counts: html("p", { id: "drawing-counts", role: "status" }) };
  page.append(
    html(
      "section",
      { class: "wide" },
      html("h2", {}, `A list of ${thousands(rowCount)} cells`),
      html(
        "p",
        {},
        "Each cell is drawn on the server, off its main thread, when it comes into view; ",
        "one that has left again is cancelled. ",
        `Cells that are ${contentCount} apart show the same, which is drawn once. `,
        "Each fourth shows the thumbnail of a JPEG of 1,200 × 1,200.",
      ),
      html("div", { class: "bar" }, jump, parts.counts),
      list,
    ),
  );
}

/** Scrolls far, in steps that are faster than the drawing. */
function fling() {
  let steps = 40;
  const step = () => {
    parts.list.scrollTop += 9 * rowHeight;
    steps -= 1;
    if (steps > 0) setTimeout(step, 30);
  };
  step();
}

function visibleRows() {
  const first = Math.floor(parts.list.scrollTop / rowHeight);
  const count = Math.ceil(parts.list.clientHeight / rowHeight) + 1;
  return { first: Math.min(first, rowCount - 1), count: Math.min(count, 60, rowCount - first) };
}

function makeCell(row) {
  const image = html("img", { alt: `Picture ${(row % contentCount) + 1}`, width: 56, height: 56 });
  const text = `Cell ${row + 1}: picture ${(row % contentCount) + 1}`;
  const cell = html("div", { class: "cell" }, image, html("span", {}, text));
  cell.style.top = `${row * rowHeight}px`;
  return cell;
}

function showRows() {
  if (parts.list.clientHeight === 0) return;
  const { first, count } = visibleRows();
  const old = cells;
  cells = new Map();
  for (let row = first; row < first + count; row += 1) {
    cells.set(row, old.get(row) ?? makeCell(row));
    old.delete(row);
    if (!cells.get(row).parentNode) parts.inner.append(cells.get(row));
  }
  for (const cell of old.values()) cell.remove();
  showImages();
  ask({ first, count });
}

/** Reports the newest visible range. Ranges that were passed while a request was in progress are not reported. */
async function ask(range) {
  wanted = range;
  if (isAsking) return;
  isAsking = true;
  while (wanted) {
    const next = wanted;
    wanted = null;
    await post("api/drawing/visible", { viewer, ...next });
  }
  isAsking = false;
}

/** Called when the lab has restarted and does not know this window. */
export function reset() {
  for (const cell of cells.values()) cell.remove();
  cells.clear();
}

function showImages() {
  for (const [row, cell] of cells) {
    const image = cell.firstElementChild;
    if (ready.has(row) && !image.hasAttribute("src")) image.src = `drawing/${row % contentCount}`;
  }
}

export function update(state) {
  const event = state.workshops.drawing;
  ready = new Set(event?.ready ?? []);
  if (cells.size === 0) showRows();
  showImages();
  const { drawn = 0, cancelled = 0, fromCache = 0 } = event ?? {};
  setText(parts.counts, `${drawn} drawn, ${cancelled} cancelled, ${fromCache} from the cache`);
}
