// The elements around the timeline.

const tableLimit = 200;

function search() {
  const text = byId("search").value.trim().toLowerCase();
  const matches = (position) => text !== "" && operations[position].name.toLowerCase().includes(text);
  const found = [...operations.keys()].filter(matches);
  state.found = text === "" ? null : new Set(found);
  byId("table").hidden = found.length === 0;
  byId("rows").replaceChildren(...found.slice(0, tableLimit).map(tableRow));
  const first = found.length > tableLimit ? `, the first ${tableLimit} are in the table` : "";
  byId("found").textContent = text === "" ? "" : `${found.length} found${first}`;
  redraw();
}

function cell(text, isNumber = false) {
  const cell = document.createElement("td");
  cell.textContent = text;
  if (isNumber) cell.className = "number";
  return cell;
}

function tableRow(position) {
  const operation = operations[position];
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = operation.name || "(no name)";
  button.addEventListener("click", () => reveal(position));
  const name = document.createElement("td");
  name.append(button);
  const time = (value) => cell(value === undefined ? "" : timeText(Math.max(0, value)), true);
  const queue = validQueue(operation);
  const row = document.createElement("tr");
  row.append(
    name, cell(queue === undefined ? "" : queueName(queue)), cell(resultText(operation)), time(startOf(operation)),
    time(operation.runs.length > 0 ? runTime(operation) : undefined), time(waitTime(operation)));
  return row;
}

function legendItem(name, color) {
  const [item, sample] = [document.createElement("li"), document.createElement("span")];
  sample.style.background = color;
  item.append(sample, name);
  return item;
}

function resize() {
  const room = innerHeight - canvas.getBoundingClientRect().top - scrollY - 60;
  canvas.style.height = `${Math.max(160, Math.min(contentHeight + axisHeight, room))}px`;
  scroll(0);
}

byId("summary").textContent = page.summary;
byId("path-text").textContent = page.pathText ?? "";
byId("show-path").disabled = page.path.length === 0;
byId("legend").append(
  ...recording.queues.map((queue, position) => {
    const limit = queue.maxConcurrentOperationCount === undefined ? "" : ` (${queue.maxConcurrentOperationCount})`;
    return legendItem(queueName(position) + limit, page.colors[position % page.colors.length]);
  }));
if (recording.threads.some((thread) => thread.blockedIntervals.length > 0)) {
  byId("legend").append(
    legendItem("thread blocked", "repeating-linear-gradient(135deg, var(--none) 0 3px, var(--edge) 3px 4px)"));
}
byId("search").addEventListener("input", search);
byId("show-path").addEventListener("change", (event) => {
  state.showsPath = event.target.checked;
  redraw();
});
byId("zoom-in").addEventListener("click", () => zoom(1 / 1.5));
byId("zoom-out").addEventListener("click", () => zoom(1.5));
byId("zoom-all").addEventListener("click", () => show(0, extent));
addEventListener("resize", resize);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
resize();
