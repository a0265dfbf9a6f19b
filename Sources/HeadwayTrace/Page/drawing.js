// Draws the visible part of the timeline.

const canvas = byId("timeline");
const context = canvas.getContext("2d");
const heights = { spans: 16, runs: 20, waits: 6 };
const labelWidth = 130;
const axisHeight = 24;

/** The visible times, in nanoseconds, and how many pixels the rows are moved up. */
const view = { from: 0, to: extent, top: 0 };
/** The operations that match the search, or null; and the selected operation. */
const state = { found: null, selected: null, showsPath: false };

/** The first and the last row of each thread; its name is at its first row with runs. */
const threads = new Map();
let y = 0;
for (const row of rows) {
  const thread = threads.get(row.thread) ?? { first: row };
  row.isFirst = !threads.has(row.thread);
  threads.set(row.thread, thread);
  thread.last = row;
  if (row.kind === "runs") thread.label ??= row;
  if (row.isFirst) y += 6;
  [row.y, row.height] = [y, heights[row.kind]];
  y += row.height;
}
const contentHeight = y + 6;

const plotWidth = () => Math.max(1, canvas.clientWidth - labelWidth);
const x = (time) => labelWidth + ((time - view.from) / (view.to - view.from)) * plotWidth();
const timeAt = (left) => view.from + ((left - labelWidth) / plotWidth()) * (view.to - view.from);
const top = (row) => axisHeight + row.y - view.top;

/** The first bar of a row that ends after a time. In a row with overlaps, the first bar. */
function firstVisible(row, time) {
  if (row.overlaps) return 0;
  let [low, high] = [0, row.bars.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.bars[middle].end < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

let isScheduled = false;
function redraw() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    draw();
  });
}

let colors = {};
function draw() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "text", "dim", "line", "band", "edge", "bad", "none", "focus"]) {
    colors[name] = style.getPropertyValue(`--${name}`).trim();
  }
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const scale = devicePixelRatio || 1;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.fillStyle = colors.back;
  context.fillRect(0, 0, width, height);
  drawBands(width, height);
  drawAxis(height);
  context.save();
  context.beginPath();
  context.rect(labelWidth, axisHeight, width - labelWidth, height - axisHeight);
  context.clip();
  for (const row of rows) {
    if (top(row) + row.height >= axisHeight && top(row) <= height) drawRow(row);
  }
  drawMarks(height);
  drawArrows();
  context.restore();
  drawLabels(height);
  byId("range").textContent = rangeText();
}

/** The visible period, with enough decimal places to distinguish a hundredth of it. */
function rangeText() {
  const [unit, size] = fittingUnit(view.to);
  const places = Math.max(0, Math.min(9, Math.ceil(2 - Math.log10((view.to - view.from) / size))));
  const text = (time) => Number((time / size).toFixed(places));
  return `${text(view.from)} – ${text(view.to)} ${unit}`;
}

function drawBands(width, height) {
  let isShaded = false;
  for (const row of rows) {
    if (row.isFirst) isShaded = !isShaded;
    if (!isShaded || top(row) > height || top(row) + row.height < axisHeight) continue;
    context.fillStyle = colors.band;
    context.fillRect(0, top(row) - (row.isFirst ? 3 : 0), width, row.height + (row.isFirst ? 3 : 0));
  }
  context.fillStyle = colors.back;
  context.fillRect(0, 0, width, axisHeight);
}

function drawAxis(height) {
  const smallest = ((view.to - view.from) / plotWidth()) * 90;
  const power = 10 ** Math.floor(Math.log10(Math.max(smallest, 1)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= smallest) ?? power * 10;
  const [unit, size] = fittingUnit(view.to);
  for (let tick = Math.ceil(view.from / step) * step; tick <= view.to; tick += step) {
    context.fillStyle = colors.line;
    context.fillRect(Math.round(x(tick)), axisHeight - 4, 1, height);
    context.fillStyle = colors.dim;
    const isAtEdge = x(tick) > canvas.clientWidth - 30;
    context.textAlign = isAtEdge ? "right" : "center";
    context.fillText(`${Number((tick / size).toFixed(9))} ${unit}`, isAtEdge ? canvas.clientWidth - 4 : x(tick), 10);
  }
}

function drawRow(row) {
  const inset = row.kind === "waits" ? 1 : 2;
  const [y, height] = [top(row) + inset, row.height - 2 * inset];
  let last = -1;
  for (let number = firstVisible(row, view.from); number < row.bars.length; number++) {
    const bar = row.bars[number];
    if (bar.start > view.to) break;
    const left = Math.max(x(bar.start), labelWidth - 10);
    const right = Math.min(x(bar.end), canvas.clientWidth + 10);
    // Bars in a pixel that is already full are not drawn, unless they are signs of their own.
    if (right < labelWidth || (right <= last && !isMarked(row, bar))) continue;
    drawBar(row, bar, left, y, Math.max(1, right - left), height);
    last = Math.max(last, Math.ceil(Math.max(right, left + 1)));
  }
  if (row.kind === "runs") drawBlocked(row, y + height - 5, 5);
}

/** Draws stripes below the names where the thread of a row was blocked, unless they are narrower than a pixel. */
function drawBlocked(row, y, height) {
  context.strokeStyle = colors.edge;
  context.lineWidth = 1.5;
  for (const interval of recording.threads[row.thread]?.blockedIntervals ?? []) {
    const left = Math.max(x(interval.startTime), labelWidth);
    const right = Math.min(x(interval.endTime ?? extent), canvas.clientWidth);
    if (right - left < 1) continue;
    context.save();
    context.beginPath();
    context.rect(left, y, right - left, height);
    context.clip();
    context.globalAlpha = 0.75;
    context.beginPath();
    for (let position = left - height; position < right; position += 6) {
      context.moveTo(position, y + height);
      context.lineTo(position + height, y);
    }
    context.stroke();
    context.restore();
  }
}

/** Whether an operation was found, or is on the critical path; true if neither is shown. */
const isProminent = (position) =>
  state.found ? state.found.has(position) : !state.showsPath || path.has(position);

const isMarked = (row, bar) =>
  row.kind === "runs" &&
  (operations[bar.index].result === "failure" || ((state.found || state.showsPath) && isProminent(bar.index)));

function drawBar(row, bar, left, y, width, height) {
  const operation = row.kind === "spans" ? null : operations[bar.index];
  const isDim = operation && !isProminent(bar.index);
  context.globalAlpha = isDim ? 0.15 : row.kind === "waits" ? 0.45 : operation?.result === "cancelled" ? 0.4 : 1;
  if (operation) {
    context.fillStyle = page.colors[validQueue(operation) % page.colors.length] ?? colors.none;
    context.fillRect(left, y, width, height);
  }
  context.globalAlpha = isDim ? 0.3 : 1;
  if (row.kind === "waits") return;
  context.setLineDash(operation?.result === "cancelled" ? [3, 2] : []);
  const isOnPath = operation && state.showsPath && width > 8 && path.has(bar.index);
  const isSelected = operation && state.selected === bar.index;
  if (!operation || operation.result === "failure" || operation.result === "cancelled" || isOnPath || isSelected) {
    context.strokeStyle = isSelected ? colors.focus : operation?.result === "failure" ? colors.bad : colors.edge;
    context.lineWidth = isSelected || isOnPath ? 3 : 1;
    context.strokeRect(left + 0.5, y + 0.5, Math.max(1, width - 1), height - 1);
  }
  context.setLineDash([]);
  if (hasBadge(operation) && (width > 6 || operation.result === "failure")) {
    drawBadge(operation.result, left, y, width, height);
  }
  if (width > 28) drawName(operation?.name ?? recording.spans[bar.index].name, operation, left, y, width, height);
  context.globalAlpha = 1;
}

const hasBadge = (operation) => operation?.result === "failure" || operation?.result === "cancelled";

/** A cross for an operation that failed, a dash for one that was cancelled. */
function drawBadge(result, left, y, width, height) {
  const [centerX, centerY] = [width > 28 ? left + width - 8 : left + width / 2, y + height / 2];
  context.beginPath();
  context.arc(centerX, centerY, 5.5, 0, 2 * Math.PI);
  context.fillStyle = result === "failure" ? "#b3001b" : "#48484a";
  context.fill();
  context.beginPath();
  for (const [dx, dy] of result === "failure" ? [[2.5, 2.5], [2.5, -2.5]] : [[3, 0]]) {
    context.moveTo(centerX - dx, centerY - dy);
    context.lineTo(centerX + dx, centerY + dy);
  }
  context.strokeStyle = "#fff";
  context.lineWidth = 1.75;
  context.stroke();
}

function drawName(name, operation, left, y, width, height) {
  const visible = Math.max(left, labelWidth);
  const room = left + width - visible - (hasBadge(operation) ? 18 : 6);
  if (room < 20) return;
  const isPlain = !operation || validQueue(operation) === undefined || operation.result === "cancelled";
  const color = page.colors[validQueue(operation ?? {}) % page.colors.length];
  context.save();
  context.beginPath();
  context.rect(visible, y, room + 3, height);
  context.clip();
  context.textAlign = "left";
  context.fillStyle = isPlain ? colors.text : color === "#0072b2" ? "#fff" : "#111";
  context.fillText(name.slice(0, 300).replace(/\s+/g, " "), visible + 4, y + height / 2 + 0.5);
  context.restore();
}
