// Downloads from the lab's own slow server.

import { post } from "./connection.js";
import { html, megabytes, setText } from "./elements.js";

const titles = ["A file in one go", "A file whose connection breaks off", "A larger file"];
let rows = [];

function row(title, number) {
  const button = (text, path) =>
    html(
      "button",
      {
        type: "button",
        "data-action": path,
        "aria-label": `${text}: ${title}`,
        onclick: () => post(`api/requests/${path}`, { number }),
      },
      text,
    );
  const parts = {
    progress: html("progress", { max: 1, value: 0, "aria-label": `Progress of ${title}` }),
    text: html("td", {}, "idle"),
    requests: html("td", {}, "–"),
    start: button("Download", "start"),
    cancel: button("Cancel", "cancel"),
  };
  parts.row = html(
    "tr",
    { "data-download": number },
    html("th", { scope: "row" }, title),
    html("td", {}, parts.progress),
    parts.text,
    parts.requests,
    html("td", {}, parts.start, " ", parts.cancel),
  );
  return parts;
}

export function mount(page) {
  rows = titles.map(row);
  const heads = ["Download", "Progress", "State", "Requests that the server got", ""];
  const head = html("tr", {}, ...heads.map((text) => html("th", { scope: "col" }, text)));
  const table = html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows.map((parts) => parts.row)));
  page.append(
    html(
      "section",
      { class: "wide" },
      html("h2", {}, "Downloads from a slow server"),
      html(
        "p",
        {},
        "A broken connection is retried automatically, and the download resumes. ",
        "Cancel a download, and resume it later, too.",
      ),
      html("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Downloads" }, table),
    ),
  );
}

export function update(state) {
  const downloads = state.workshops.requests?.downloads ?? [];
  rows.forEach((parts, number) => {
    const download = downloads[number];
    const isRunning = download?.state === "running";
    parts.start.disabled = isRunning;
    parts.cancel.disabled = !isRunning;
    setText(parts.start, ["cancelled", "failed"].includes(download?.state) ? "Go on" : "Download");
    if (!download) return;
    parts.progress.value = download.received / download.total;
    const size = `${megabytes(download.received)} of ${megabytes(download.total)}`;
    setText(parts.text, [download.state, size, download.message].filter(Boolean).join(", "));
    setText(parts.requests, download.requests.map((start) => `from ${megabytes(start)}`).join(", ") || "–");
  });
}
