// Keyboard shortcuts: each one follows a link, or moves the focus. None changes a job.

const help = document.getElementById("keys");
const use = document.getElementById("use-keys");
/** How long the second key of a shortcut can take. */
const longestPause = 1_500;
/** When the first key of a shortcut with two keys was pressed. */
let goTime = -Infinity;

function rows() {
  return [...document.querySelectorAll("main tbody tr")].filter((row) => row.querySelector("a"));
}

/** Moves the focus to another row. */
function move(step) {
  const all = rows();
  const index = all.indexOf(document.activeElement.closest("main tbody tr"));
  const first = step > 0 ? 0 : all.length - 1;
  const next = all[index < 0 ? first : Math.min(Math.max(index + step, 0), all.length - 1)];
  next?.querySelector("a").focus();
}

function open(link) {
  if (link) location.href = link.href;
}

/** Opens the page of the menu whose shortcut has this letter. */
function go(letter) {
  const letters = [...help.querySelectorAll(".go")].map((key) => key.textContent);
  const index = letters.indexOf(letter);
  if (index >= 0) open(document.querySelectorAll("nav a")[index]);
}

/** Moves the focus to the filter, which is on the page of jobs. */
function filter() {
  const field = document.querySelector("main form.filter [name=label]");
  if (field) field.focus();
  else {
    const link = [...document.querySelectorAll("nav a")].find((page) => new URL(page.href).pathname.endsWith("/jobs"));
    if (link) location.href = `${link.href}#filter`;
  }
}

const actions = {
  j: () => move(1),
  k: () => move(-1),
  x: () => document.activeElement.closest("main tbody tr")?.querySelector("input[name=job]")?.click(),
  n: () => open(document.querySelector('main a[rel="next"]')),
  g: () => { goTime = performance.now(); },
  "/": filter,
  "?": () => help.showModal(),
};

function isTyping(target) {
  return target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]") != null;
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
  if (help.open || !use.checked) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const isSecond = performance.now() - goTime < longestPause;
  goTime = -Infinity;
  if (isSecond) go(event.key);
  else if (Object.hasOwn(actions, event.key)) actions[event.key]();
  else return;
  event.preventDefault();
}

if (help) {
  // A person who speaks to the browser can turn the shortcuts off.
  try {
    use.checked = localStorage.getItem("headway-keys") !== "off";
    use.addEventListener("change", () => localStorage.setItem("headway-keys", use.checked ? "on" : "off"));
  } catch {
    // The browser stores nothing, so the choice applies only to this page.
  }
  addEventListener("keydown", press);
  document.getElementById("show-keys").addEventListener("click", () => help.showModal());
  if (location.hash === "#filter") filter();
}
