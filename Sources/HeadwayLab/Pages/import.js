// Imports a feed into SQLite, and shows how its tables, and the rows of one of them, arrive.

import { post } from "./connection.js";
import { html, seconds, setText, thousands } from "./elements.js";

let parts = {};

export function mount(page) {
  const size = html(
    "select",
    { id: "import-size", "aria-label": "Rows of stop times" },
    ...[20000, 300000, 1000000].map((count) => html("option", { value: count }, `${thousands(count)} stop times`)),
  );
  const start = html("button", { type: "button", id: "import-start" }, "Import");
  start.addEventListener("click", () => post("api/import/start", { stopTimes: Number(size.value) }));
  const cancel = html("button", { type: "button", id: "import-cancel", disabled: true }, "Cancel");
  cancel.addEventListener("click", () => post("api/import/cancel"));
  parts = {
    start,
    cancel,
    message: html("p", { id: "import-message", role: "status" }),
    tables: html("tbody"),
    liveTitle: html("h2", {}, "The newest rows"),
    live: html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The newest rows" }),
  };
  const head = ["Table", "Progress", "Rows", "Rejected"].map((text, index) =>
    html("th", { scope: "col", class: index > 1 ? "number" : null }, text),
  );
  page.append(
    html(
      "section",
      {},
      html("h2", {}, "Import a transit feed into SQLite"),
      html(
        "p",
        {},
        "One operation imports one table, after those to which it refers. Committed rows can be read immediately.",
      ),
      html("div", { class: "bar" }, size, start, cancel),
      parts.message,
      html("table", {}, html("thead", {}, html("tr", {}, ...head)), parts.tables),
    ),
    html("section", {}, parts.liveTitle, parts.live),
  );
}

function tableRow(table) {
  const label = `Progress of ${table.name}`;
  return html(
    "tr",
    {},
    html("th", { scope: "row" }, table.name),
    html("td", {}, html("progress", { max: 1, value: table.fraction, "aria-label": label })),
    html("td", { class: "number" }, thousands(table.rows)),
    html("td", { class: "number" }, thousands(table.rejected)),
  );
}

function liveTable(event) {
  const head = html("tr", {}, ...event.columns.map((name) => html("th", { scope: "col" }, name)));
  const rows = event.liveRows.map((row) => html("tr", {}, ...row.map((value) => html("td", {}, value))));
  return html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows));
}

export function update(state) {
  const event = state.workshops.import;
  const isRunning = ["generating", "running"].includes(event?.phase);
  parts.start.disabled = isRunning;
  parts.cancel.disabled = !isRunning;
  if (!event) return;
  const rate = event.seconds > 0 ? `, ${thousands(event.rows / event.seconds)} rows a second` : "";
  const count = event.rows > 0 ? ` ${thousands(event.rows)} rows in ${seconds(event.seconds)}${rate}.` : "";
  setText(parts.message, event.message + count);
  parts.tables.replaceChildren(...event.tables.map(tableRow));
  setText(parts.liveTitle, `The newest of ${thousands(event.liveCount)} rows in ${event.liveTable}`);
  parts.live.replaceChildren(liveTable(event));
}
