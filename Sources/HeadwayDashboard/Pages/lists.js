// Selects rows of lists, and copies the address of a list.
//
// The rows have checkboxes in a form, so selecting them also works without this script.

document.documentElement.classList.add("js");

/** The checkbox that a person has clicked last. */
let last = null;

function boxes(form) {
  return [...form.querySelectorAll('input[name="job"]')];
}

/** Shows how many rows of a form are selected. */
function show(form) {
  const all = boxes(form);
  const count = all.filter((box) => box.checked).length;
  const everything = form.querySelector(".select-all");
  if (everything) {
    everything.checked = count > 0 && count === all.length;
    everything.indeterminate = count > 0 && count < all.length;
  }
  const output = form.querySelector(".selected-count");
  const text = count === 0 ? "" : `${count} selected`;
  if (output && output.textContent !== text) output.textContent = text;
}

function showAll() {
  for (const form of document.querySelectorAll("form.rows")) show(form);
}

/** Selects all rows between the last clicked one and this one. */
function extend(box) {
  const all = boxes(box.form);
  const [start, end] = [all.indexOf(last), all.indexOf(box)].sort((one, other) => one - other);
  if (start < 0) return;
  for (const other of all.slice(start, end + 1)) other.checked = box.checked;
}

async function copy(event, link) {
  if (!navigator.clipboard || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    await navigator.clipboard.writeText(link.href);
    link.textContent = "Copied";
    setTimeout(() => { link.textContent = "Link to this list"; }, 2_000);
  } catch {
    location.href = link.href;
  }
}

document.addEventListener("click", (event) => {
  const target = event.target;
  const link = target.closest?.("a.copy");
  if (link) copy(event, link);
  if (target.name !== "job" || target.type !== "checkbox") return;
  if (event.shiftKey && last?.isConnected) extend(target);
  last = target;
});

document.addEventListener("change", (event) => {
  const { target } = event;
  const form = target.form;
  if (!form?.classList.contains("rows")) return;
  if (target.classList.contains("select-all")) {
    for (const box of boxes(form)) box.checked = target.checked;
  }
  show(form);
});

document.addEventListener("page-update", showAll);
addEventListener("pageshow", showAll);
