// Boxes that you connect by dragging one to another, and run as operations.

import { arrow, onEdge } from "./arrows.js";
import { post } from "./connection.js";
import { html, setText, svg } from "./elements.js";

/** The pointer can move this far while it is pressed, without starting a drag. */
const dragDistance = 4;
let parts = {};
let event = null;
let drawn = "";
/** The number of the box that a new connection starts from, and the position of the connection's end. */
let source = null;
let pointer = null;
let boxes = new Map();

export function mount(page) {
  const button = (id, text, action) => html("button", { type: "button", id, onclick: action }, text);
  parts = {
    run: button("board-run", "Run", () => post("api/board/run")),
    cancel: button("board-cancel", "Cancel", () => post("api/board/cancel")),
    add: button("board-add", "Add a box", () => post("api/board/add")),
    clear: button("board-clear", "Remove all connections", () => post("api/board/clear")),
    message: html("p", { id: "board-message", role: "status" }),
    lines: svg("svg", { class: "lines", "aria-hidden": "true" }),
    boxes: html("div", { class: "boxes" }),
    edges: html("ul", { id: "board-edges" }),
  };
  parts.area = html("div", { class: "board", id: "board-area" }, parts.lines, parts.boxes);
  page.append(
    html(
      "section",
      { class: "wide" },
      html("h2", {}, "Draw what waits for what"),
      html(
        "p",
        {},
        "Drag a box to another: the second then waits for the first. With keys, press Enter on each; Escape gives up. ",
        "Each box is an operation. Connections that would make a cycle are refused.",
      ),
      html("div", { class: "bar" }, parts.run, parts.cancel, parts.add, parts.clear),
      parts.message,
      parts.area,
    ),
    html("section", { class: "wide" }, html("h2", {}, "Connections"), parts.edges),
  );
  document.addEventListener("pointermove", (moved) => {
    if (source === null || !pointer) return;
    const { x, y } = placeOf(moved);
    pointer.isDragged ||= Math.hypot(x - pointer.x, y - pointer.y) > dragDistance;
    if (!pointer.isDragged) return;
    pointer = { x, y, isDragged: true };
    drawLines();
  });
  document.addEventListener("pointerup", (released) => {
    if (source === null || !pointer?.isDragged) return;
    const target = document.elementFromPoint(released.clientX, released.clientY)?.closest("[data-box]");
    if (target) connect(source, Number(target.dataset.box));
    else choose(null);
  });
  document.addEventListener("pointercancel", () => pointer && choose(null));
  document.addEventListener("keydown", (pressed) => pressed.key === "Escape" && choose(null));
  new ResizeObserver(drawLines).observe(parts.area);
}

function placeOf(event) {
  const area = parts.area.getBoundingClientRect();
  return { x: event.clientX - area.left, y: event.clientY - area.top };
}

const nameOf = (number) => event.boxes[number - 1].name;

function choose(number) {
  [source, pointer] = [number, null];
  showChosen();
  drawLines();
}

function showChosen() {
  for (const [number, box] of boxes) {
    box.setAttribute("aria-pressed", String(number === source));
    const start = source === null ? "connect from here" : number === source ? "give up" : `wait for ${nameOf(source)}`;
    box.setAttribute("aria-label", `${box.dataset.text}: ${start}`);
  }
}

function connect(from, to) {
  choose(null);
  // A box that was dragged to itself was only clicked.
  if (from !== to) post("api/board/connect", { from, to });
}

function makeBox(number) {
  const box = html(
    "button",
    { type: "button", class: "box", "data-box": number },
    html("span", { class: "fill" }),
    html("strong"),
    html("small"),
  );
  let wasDragged = false;
  box.addEventListener("pointerdown", (pressed) => {
    wasDragged = false;
    if (pressed.button !== 0) return;
    // If one box was pressed before, this press completes the connection.
    if (source !== null) return;
    // The pointer is released over another box.
    box.releasePointerCapture?.(pressed.pointerId);
    source = number;
    pointer = { ...placeOf(pressed), isDragged: false };
  });
  box.addEventListener("pointerup", () => (wasDragged = source === number && (pointer?.isDragged ?? false)));
  box.addEventListener("click", () => {
    if (wasDragged) return void (wasDragged = false);
    if (source === null || (source === number && pointer)) return choose(number);
    connect(source, number);
  });
  return box;
}

function updateBoxes() {
  for (const box of event.boxes) {
    if (!boxes.has(box.number)) {
      boxes.set(box.number, makeBox(box.number));
      parts.boxes.append(boxes.get(box.number));
    }
    const element = boxes.get(box.number);
    const [fill, name, state] = element.children;
    element.className = `box ${box.state}`;
    fill.style.width = `${(box.steps / 8) * 100}%`;
    setText(name, box.name);
    setText(state, box.state);
    element.dataset.text = `${box.name}, ${box.state}`;
  }
  for (const [number, element] of boxes) {
    if (number <= event.boxes.length) continue;
    element.remove();
    boxes.delete(number);
  }
  showChosen();
}

function frame(number) {
  const [box, area] = [boxes.get(number).getBoundingClientRect(), parts.area.getBoundingClientRect()];
  return {
    x: box.left + box.width / 2 - area.left,
    y: box.top + box.height / 2 - area.top,
    halfWidth: box.width / 2 + 3,
    halfHeight: box.height / 2 + 3,
  };
}

function drawLines() {
  if (!event || parts.area.clientWidth === 0) return;
  const pairs = event.edges.map(([from, to]) => [from, to, event.boxes[from - 1].state === "finished" ? "done" : ""]);
  // In a cycle, each box waits for the next.
  for (let index = 1; index < event.cycle.length; index += 1) {
    pairs.push([event.cycle[index], event.cycle[index - 1], "refused"]);
  }
  const elements = pairs.flatMap(([from, to, kind]) => {
    if (from === to) return [];
    const [start, end] = [frame(from), frame(to)];
    return arrow(onEdge(start, end), onEdge(end, start), kind);
  });
  if (source !== null && pointer?.isDragged) elements.push(...arrow(onEdge(frame(source), pointer), pointer, "drawn"));
  parts.lines.replaceChildren(...elements);
}

function updateEdges() {
  const remove = (from, to) => {
    const label = `Remove: ${nameOf(to)} waits for ${nameOf(from)}`;
    const onclick = () => post("api/board/disconnect", { from, to });
    return html("button", { type: "button", "aria-label": label, onclick }, "Remove");
  };
  const list = event.edges.map(([from, to]) =>
    html("li", { "data-edge": `${from}-${to}` }, `${nameOf(to)} waits for ${nameOf(from)} `, remove(from, to)),
  );
  parts.edges.replaceChildren(...(list.length ? list : [html("li", { class: "hint" }, "There are none yet.")]));
}

export function update(state) {
  event = state.workshops.board ?? null;
  if (!event) return;
  const isRunning = event.phase === "running";
  parts.run.disabled = isRunning;
  parts.cancel.disabled = !isRunning;
  parts.add.disabled = isRunning || event.boxes.length === 8;
  parts.clear.disabled = isRunning || event.edges.length === 0;
  updateBoxes();
  const edges = JSON.stringify([event.edges, event.boxes.length]);
  if (edges !== drawn) updateEdges();
  drawn = edges;
  setText(parts.message, event.message || (isRunning ? "They run." : ""));
  parts.message.className = event.cycle.length > 0 ? "cancelled" : "";
  drawLines();
}
