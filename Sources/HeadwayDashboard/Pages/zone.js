// Lets a person choose the time zone of the pages: UTC, or the one of the browser. The server reads the choice from a
// cookie, so each time is rendered in only one place.

const place = document.getElementById("zone");
const local = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Stores the choice for all pages of the dashboard. */
function choose(name) {
  // A slash at the end would exclude the first page of a dashboard that an application has mounted below a path.
  const path = new URL(`${document.body.dataset.base}/`, location.href).pathname.replace(/(.)\/$/, "$1");
  const security = location.protocol === "https:" ? "; Secure" : "";
  document.cookie =
    `jobs-time-zone=${encodeURIComponent(name)}; Path=${path}; Max-Age=31536000; SameSite=Strict${security}`;
  location.reload();
}

function showMenu() {
  const current = place.textContent;
  const names = new Set(["UTC", current, local === "Etc/UTC" ? "UTC" : local]);
  if (names.size < 2) return;
  const menu = document.createElement("select");
  menu.setAttribute("aria-label", "Time zone");
  menu.autocomplete = "off";
  for (const name of names) menu.add(new Option(name, name, name === current, name === current));
  menu.addEventListener("change", () => choose(menu.value));
  place.replaceChildren(menu);
}

if (place && local) showMenu();
