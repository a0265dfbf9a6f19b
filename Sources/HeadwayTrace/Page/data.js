// The recording, its layout, and words for them.

/** Converts a `Duration`, which is encoded as the upper and lower 64 bits of a number of attoseconds, to nanoseconds. */
const nanoseconds = (key, value) =>
  /(time|duration)$/i.test(key) && Array.isArray(value) ? (value[0] * 2 ** 64 + value[1]) / 1e9 : value;

const page = JSON.parse(document.getElementById("recording").textContent, nanoseconds);
const { recording, extent } = page;
const operations = recording.operations;
const byId = (id) => document.getElementById(id);

/** The rows from top to bottom: bars `{ start, end, index, attempt }` that are sorted by start. */
const rows = page.rows.map((row) => ({
  ...row,
  bars: row.bars.map(([index, attempt, start, end]) => ({ index, attempt, start, end })),
}));

const path = new Set(page.path);
const dependents = operations.map(() => []);
operations.forEach((operation, position) => {
  for (const dependency of operation.dependencies) dependents[dependency]?.push(position);
});

/** The largest unit that is not longer than a time, and its length. */
const fittingUnit = (time) =>
  time >= 1e9 ? ["s", 1e9] : time >= 1e6 ? ["ms", 1e6] : time >= 1e3 ? ["µs", 1e3] : ["ns", 1];

function timeText(time) {
  const [unit, size] = fittingUnit(time);
  const value = time / size;
  return `${Number(value.toFixed(size === 1 || value >= 100 ? 0 : value >= 10 ? 1 : 2))} ${unit}`;
}

const validQueue = (operation) => (recording.queues[operation.queue] ? operation.queue : undefined);

function queueName(position) {
  return recording.queues[position].name || `Queue ${position + 1}`;
}

function resultText(operation) {
  if (operation.result === "failure") return operation.error ? `failed: ${operation.error}` : "failed";
  if (operation.result) return operation.result === "success" ? "succeeded" : "cancelled";
  return operation.runs.length > 0 ? "unfinished" : "not started";
}

const startOf = (operation) => operation.runs[0]?.startTime;
const runTime = (operation) =>
  operation.runs.reduce((sum, run) => sum + Math.max(0, (run.endTime ?? extent) - run.startTime), 0);
const waitTime = (operation) => {
  const [ready, start] = [operation.readyTime, startOf(operation)];
  return ready === undefined || start === undefined ? undefined : Math.max(0, start - ready);
};

/** How long the given intervals overlap a period. */
const overlap = (intervals, start, end) =>
  (intervals ?? []).reduce(
    (sum, interval) => sum + Math.max(0, Math.min(interval.endTime ?? extent, end) - Math.max(interval.startTime, start)), 0);
const blockedTime = (operation) =>
  operation.runs.reduce(
    (sum, run) => sum + overlap(recording.threads[run.thread]?.blockedIntervals, run.startTime, run.endTime ?? extent), 0);
const suspendedTime = (operation) =>
  waitTime(operation) > 0
    ? overlap(recording.queues[operation.queue]?.suspendedIntervals, operation.readyTime, startOf(operation))
    : 0;

/** The description of an operation. */
function operationText(position) {
  const operation = operations[position];
  const queue = validQueue(operation);
  const lines = [operation.name, `${queue === undefined ? "no queue" : queueName(queue)}, ${resultText(operation)}`];
  if (startOf(operation) !== undefined) {
    lines.push(`Started at ${timeText(Math.max(0, startOf(operation)))}, ran for ${timeText(runTime(operation))}`);
  }
  if (waitTime(operation) > 0) lines.push(`Waited ${timeText(waitTime(operation))} for its queue`);
  if (suspendedTime(operation) > 0) lines.push(`The queue was suspended for ${timeText(suspendedTime(operation))} of that`);
  if (blockedTime(operation) > 0) lines.push(`The thread was blocked for ${timeText(blockedTime(operation))}`);
  if (operation.runs.length > 1) lines.push(`${operation.runs.length} attempts`);
  if (path.has(position)) lines.push("On the critical path");
  return lines.join("\n");
}

/** The description of a bar. */
function barText(row, bar) {
  if (row.kind !== "spans") return operationText(bar.index);
  return `${recording.spans[bar.index].name}\n${timeText(bar.end - bar.start)} from ${timeText(bar.start)}`;
}
