// A search in a huge log, and the memory that the process uses during the search.

import { post } from "./connection.js";
import { html, megabytes, seconds, setText, svg, thousands } from "./elements.js";

let parts = {};

export function mount(page) {
  const size = html(
    "select",
    { id: "lines-size", "aria-label": "Size of the log" },
    ...[100, 1000].map((count) => html("option", { value: count }, count === 1000 ? "1 GB" : `${count} MB`)),
  );
  const text = html("input", { type: "text", id: "lines-text", value: "bad sector", "aria-label": "Text to find" });
  const start = html("button", { type: "button", id: "lines-start" }, "Search");
  start.addEventListener("click", () =>
    post("api/lines/start", { megabytes: Number(size.value), text: text.value }),
  );
  const cancel = html("button", { type: "button", id: "lines-cancel", disabled: true }, "Cancel");
  cancel.addEventListener("click", () => post("api/lines/cancel"));
  parts = {
    start,
    cancel,
    message: html("p", { id: "lines-message", role: "status" }),
    progress: html("progress", { max: 1, value: 0, "aria-label": "Progress of the search" }),
    memory: html("div"),
    matches: html("pre", { class: "matches", id: "lines-matches" }),
  };
  page.append(
    html(
      "section",
      {},
      html("h2", {}, "Search in a huge file, line by line"),
      html("p", {}, "The file is generated once. However large it is, the memory stays as it is."),
      html("div", { class: "bar" }, size, text, start, cancel),
      parts.progress,
      parts.message,
    ),
    html("section", {}, html("h2", {}, "Memory of the process"), parts.memory),
    html("section", { class: "wide" }, html("h2", {}, "The first lines that match"), parts.matches),
  );
}

function memoryPlot(memory) {
  const [width, height] = [500, 140];
  const top = Math.max(...memory) * 1.2;
  const x = (index) => (index / Math.max(1, memory.length - 1)) * width;
  const y = (bytes) => height - (bytes / top) * (height - 20);
  const points = memory.map((bytes, index) => `${x(index).toFixed(1)},${y(bytes).toFixed(1)}`).join(" ");
  const label = `Memory from ${megabytes(memory[0])} to ${megabytes(memory.at(-1))}`;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height + 20}`, role: "img", "aria-label": label },
    svg("line", { class: "axis", x1: 0, x2: width, y1: height, y2: height }),
    svg("polyline", { class: "curve", points }),
    svg("text", { class: "quiet", x: 0, y: height + 14 }, label),
  );
}

export function update(state) {
  const event = state.workshops.lines;
  const isRunning = ["generating", "running"].includes(event?.phase);
  parts.start.disabled = isRunning;
  parts.cancel.disabled = !isRunning;
  if (!event) return;
  const rate = event.seconds > 0 ? ` (${megabytes(event.bytes / event.seconds)} a second)` : "";
  const counts = event.lines
    ? ` ${thousands(event.matches)} of ${thousands(event.lines)} lines match; ` +
      `${megabytes(event.bytes)} in ${seconds(event.seconds)}${rate}.`
    : "";
  setText(parts.message, event.message + counts);
  parts.progress.value = event.size ? event.bytes / event.size : 0;
  parts.memory.replaceChildren(...(event.memory.length ? [memoryPlot(event.memory)] : []));
  setText(parts.matches, event.samples.join("\n"));
}
