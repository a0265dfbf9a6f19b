// The current state, built from the events of the journal. Each event arrives once; the newest run of a technique
// replaces the last one.

export const techniques = [
  ["main", "Main thread"],
  ["background", "Threads in the background"],
  ["concurrent", "Operation queue, concurrent"],
  ["serial", "Operation queue, serial"],
  ["custom", "Custom operations"],
  ["dispatch-concurrent", "Dispatch queue, concurrent"],
  ["dispatch-serial", "Dispatch queue, serial"],
];

function emptyState() {
  return {
    runs: new Map(),
    byNumber: new Map(),
    newest: null,
    settings: { maximum: -1, isSuspended: false },
    pending: [],
    workshops: {},
  };
}

export let state = emptyState();

export function reset() {
  state = emptyState();
}

function start(event) {
  const tasks = Array.from({ length: event.taskCount }, (_, index) => ({
    number: index + 1,
    state: "waiting",
    items: [],
    priority: 0,
  }));
  const run = {
    number: event.run,
    technique: event.technique,
    title: event.title,
    controls: event.controls,
    tasks,
    dependencies: {},
    lines: [],
    order: [],
    finished: null,
  };
  const old = state.runs.get(event.technique);
  if (old) state.byNumber.delete(old.number);
  state.runs.set(run.technique, run);
  state.byNumber.set(run.number, run);
  state.newest = run;
}

const changes = {
  began(run, event) {
    Object.assign(run.tasks[event.task - 1], { state: "executing", begin: event.time, thread: event.thread });
  },
  added(run, event) {
    run.tasks[event.task - 1].items.push({ number: event.item, time: event.time, thread: event.thread });
    run.order.push([event.task, event.item]);
  },
  ended(run, event) {
    Object.assign(run.tasks[event.task - 1], {
      state: event.isCancelled ? "cancelled" : "finished",
      end: event.time,
    });
  },
  finished(run, event) {
    run.finished = { time: event.time, gap: event.gap, isCancelled: event.isCancelled };
  },
  dependencies(run, event) {
    run.dependencies = event.dependencies;
  },
  priority(run, event) {
    run.tasks[event.task - 1].priority = event.priority;
  },
  logged() {},
};

export function apply(event) {
  if (event.type === "started") return start(event);
  if (event.type === "settings") return void (state.settings = event);
  if (event.type === "pending") return void (state.pending = event.techniques);
  if (!(event.type in changes)) return void (state.workshops[event.type] = event);
  const run = state.byNumber.get(event.run);
  if (!run) return;
  changes[event.type](run, event);
  if (event.line) run.lines.push(event.line);
}
