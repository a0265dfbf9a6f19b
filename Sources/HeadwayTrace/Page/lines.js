// Draws marks, arrows, and the names of threads.

function threadRange(position) {
  const thread = threads.get(position);
  return thread ? [top(thread.first), top(thread.last) + thread.last.height] : null;
}

function drawMarks(height) {
  context.strokeStyle = colors.edge;
  context.lineWidth = 1;
  context.setLineDash([1, 2]);
  for (const mark of recording.marks) {
    const range = threadRange(mark.thread) ?? [axisHeight, height];
    context.beginPath();
    context.moveTo(Math.round(x(mark.time)) + 0.5, range[0]);
    context.lineTo(Math.round(x(mark.time)) + 0.5, range[1]);
    context.stroke();
  }
  context.setLineDash([]);
}

/** The row and the bar of each operation's first and last run. */
const places = operations.map(() => null);
for (const row of rows) {
  if (row.kind !== "runs") continue;
  for (const bar of row.bars) {
    const place = (places[bar.index] ??= {});
    if (bar.attempt === 1) place.first = { row, bar };
    if (bar.attempt === operations[bar.index].runs.length) place.last = { row, bar };
  }
}

function drawArrow(source, target, color) {
  if (!places[source]?.last || !places[target]?.first) return;
  const [from, to] = [places[source].last, places[target].first];
  const [x1, y1] = [x(from.bar.end), top(from.row) + from.row.height / 2];
  const [x2, y2] = [x(to.bar.start), top(to.row) + to.row.height / 2];
  const reach = Math.max(12, Math.min(80, Math.abs(x2 - x1) / 2));
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x1, y1);
  context.bezierCurveTo(x1 + reach, y1, x2 - reach, y2, x2, y2);
  context.stroke();
  context.beginPath();
  context.moveTo(x2, y2);
  context.lineTo(x2 - 7, y2 - 4);
  context.lineTo(x2 - 7, y2 + 4);
  context.fill();
}

/** More arrows than this would hide the bars. */
const arrowLimit = 100;

const isVisible = (position) =>
  places[position]?.last.bar.end >= view.from && places[position].first.bar.start <= view.to;

/** The arrows of the selected operation, and those of the critical path if they are few. */
function drawArrows() {
  const steps = state.showsPath ? page.path.map((position, step) => [page.path[step - 1], position]).slice(1) : [];
  const visible = steps.filter(([source, target]) => isVisible(source) || isVisible(target));
  if (visible.length <= arrowLimit) for (const [source, target] of visible) drawArrow(source, target, colors.text);
  if (state.selected === null) return;
  for (const dependency of operations[state.selected].dependencies) {
    if (operations[dependency]) drawArrow(dependency, state.selected, colors.focus);
  }
  for (const dependent of dependents[state.selected]) drawArrow(state.selected, dependent, colors.dim);
}

function drawLabels(height) {
  context.textAlign = "left";
  context.fillStyle = colors.text;
  context.save();
  context.beginPath();
  context.rect(0, axisHeight, labelWidth - 6, height);
  context.clip();
  for (const [position, { label, first }] of threads) {
    const row = label ?? first;
    context.fillText(page.threads[position] ?? "", 8, top(row) + row.height / 2);
  }
  context.restore();
}
