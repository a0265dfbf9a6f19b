// Reads the page again when the jobs have changed, and replaces the parts that differ.

const sign = document.getElementById("live");
let isReading = false;
let isStale = false;

function isInUse(part) {
  return part.contains(document.activeElement) && document.activeElement.matches("input, select, button");
}

function replaceParts(page) {
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = page.getElementById(part.id);
    if (!next) {
      if (!isInUse(part)) part.replaceChildren();
    } else if (next.outerHTML !== part.outerHTML && !isInUse(part)) {
      const scrolled = part.querySelector(".scroll")?.scrollLeft;
      part.replaceWith(next);
      if (scrolled) next.querySelector(".scroll")?.scrollTo(scrolled, 0);
    }
  }
}

async function read() {
  if (document.hidden || isReading) {
    isStale = true;
    return;
  }
  isReading = true;
  isStale = false;
  try {
    const address = new URL(location.href);
    address.searchParams.delete("done");
    const response = await fetch(address, { headers: { Accept: "text/html" } });
    if (response.ok) replaceParts(new DOMParser().parseFromString(await response.text(), "text/html"));
    show(response.ok);
  } catch {
    show(false);
  }
  isReading = false;
  if (isStale && !document.hidden) read();
}

function show(isLive) {
  sign?.classList.toggle("on", isLive);
  sign?.setAttribute("title", isLive ? "The page follows the store" : "Not connected");
}

if (document.querySelector("[data-live]")) {
  const events = new EventSource(document.body.dataset.events);
  events.addEventListener("open", () => show(true));
  events.addEventListener("error", () => show(false));
  events.addEventListener("change", read);
  document.addEventListener("visibilitychange", () => { if (isStale) read(); });
  addEventListener("pagehide", () => events.close());
}
