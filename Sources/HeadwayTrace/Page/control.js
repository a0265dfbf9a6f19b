// Zooming, moving, searching, and selecting.

const shortest = Math.min(extent, 20);
const tip = byId("tip");

function show(from, to) {
  const length = Math.min(extent, Math.max(shortest, to - from));
  view.from = Math.max(0, Math.min(from, extent - length));
  view.to = view.from + length;
  tip.hidden = true;
  redraw();
}

function zoom(factor, center = (view.from + view.to) / 2) {
  const length = Math.min(extent, Math.max(shortest, (view.to - view.from) * factor));
  const from = center - ((center - view.from) / (view.to - view.from)) * length;
  show(from, from + length);
}

function move(part) {
  const distance = (view.to - view.from) * part;
  show(view.from + distance, view.to + distance);
}

function scroll(pixels) {
  view.top = Math.max(0, Math.min(contentHeight - (canvas.clientHeight - axisHeight), view.top + pixels));
  redraw();
}

const keys = {
  "+": () => zoom(1 / 1.5), "=": () => zoom(1 / 1.5), "-": () => zoom(1.5), "0": () => show(0, extent),
  ArrowLeft: () => move(-0.1), ArrowRight: () => move(0.1), ArrowUp: () => scroll(-40), ArrowDown: () => scroll(40),
};
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    move((event.deltaX || event.deltaY) / plotWidth());
  } else {
    zoom(1.002 ** event.deltaY, timeAt(Math.max(labelWidth, event.offsetX)));
  }
}, { passive: false });

function barAt(left, y) {
  const row = rows.find((row) => y >= top(row) && y < top(row) + row.height);
  if (!row || left < labelWidth || y < axisHeight) return null;
  const [from, to] = [timeAt(left - 2), timeAt(left + 2)];
  for (let number = firstVisible(row, from); number < row.bars.length && row.bars[number].start <= to; number++) {
    if (row.bars[number].end >= from) return { row, bar: row.bars[number] };
  }
  return null;
}

function showTip(event) {
  const hit = barAt(event.offsetX, event.offsetY);
  const range = (mark) => threadRange(mark.thread) ?? [axisHeight, canvas.clientHeight];
  const mark = recording.marks.find(
    (mark) =>
      Math.abs(x(mark.time) - event.offsetX) < 3 && event.offsetY >= range(mark)[0] && event.offsetY <= range(mark)[1]);
  tip.hidden = !hit && !mark;
  if (tip.hidden) return;
  tip.textContent = mark ? `${mark.name}\n${timeText(mark.time)}` : barText(hit.row, hit.bar);
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8))}px`;
}

/** Scrolls the timeline, and scrolls the page once the timeline has reached its end. */
function pan(pixels, scrollsPage) {
  const before = view.top;
  scroll(pixels);
  const rest = pixels - (view.top - before);
  if (scrollsPage && rest !== 0) scrollBy(0, rest);
}

/** The position of the pressed mouse button or of each finger, by pointer number. */
const pointers = new Map();
let isMoved = false;
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  if (pointers.size === 0) isMoved = false;
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
});
canvas.addEventListener("pointermove", (event) => {
  const old = pointers.get(event.pointerId);
  if (!old) return showTip(event);
  const [dx, dy] = [event.clientX - old.x, event.clientY - old.y];
  if (!isMoved && Math.hypot(dx, dy) < 4) return;
  const other = [...pointers].find(([number]) => number !== event.pointerId)?.[1];
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  [isMoved, tip.hidden] = [true, true];
  canvas.classList.add("dragging");
  if (other) {
    const distance = (x, y) => Math.max(1, Math.hypot(x - other.x, y - other.y));
    const center = (event.clientX + other.x) / 2 - canvas.getBoundingClientRect().left;
    zoom(distance(old.x, old.y) / distance(event.clientX, event.clientY), timeAt(Math.max(labelWidth, center)));
  }
  // With two fingers, the point between them moves half as far.
  const part = other ? 0.5 : 1;
  move((-dx * part) / plotWidth());
  pan(-dy * part, event.pointerType === "touch");
});
for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    if (!pointers.delete(event.pointerId) || pointers.size > 0) return;
    if (!isMoved && name === "pointerup") {
      const hit = barAt(event.offsetX, event.offsetY);
      select(hit && hit.row.kind !== "spans" ? hit.bar.index : null);
    }
    canvas.classList.remove("dragging");
  });
}
canvas.addEventListener("pointerleave", () => (tip.hidden = true));

function select(position) {
  state.selected = position;
  const selection = byId("selection");
  selection.hidden = position === null;
  if (position !== null) {
    const names = (positions) => positions.slice(0, 20).map((other) => operations[other].name).join(", ");
    const dependencies = operations[position].dependencies.filter((other) => operations[other]);
    const lines = [operationText(position)];
    if (dependencies.length > 0) lines.push(`Dependencies: ${names(dependencies)}`);
    if (dependents[position].length > 0) lines.push(`Dependents: ${names(dependents[position])}`);
    selection.textContent = lines.join("\n");
  }
  redraw();
}

/** Selects an operation, and moves and zooms so that it is visible. */
function reveal(position) {
  const place = places[position]?.first;
  select(position);
  canvas.scrollIntoView({ block: "nearest" });
  if (!place) return;
  const length = Math.max(shortest, (place.bar.end - place.bar.start) * 8);
  const center = (place.bar.start + place.bar.end) / 2;
  show(center - length / 2, center + length / 2);
  if (top(place.row) < axisHeight || top(place.row) + place.row.height > canvas.clientHeight) {
    scroll(top(place.row) - canvas.clientHeight / 2);
  }
}
