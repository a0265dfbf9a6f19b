// Keeps the page up to date: fetches it again when something might have changed, and changes it into the newer version.

import { morphContent } from "./morph.js";
import { listen } from "./stream.js";

/** How often the page is fetched without an event stream. */
const pause = 5_000;
/** How long to wait for an answer before the page states that it is out of date. */
const longestWait = 3_000;

const content = document.querySelector("main");
const sign = document.getElementById("live");
const warning = document.getElementById("warning");
let isReading = false;
let isStale = false;
/** Whether a person is pressing a button of the mouse, or a finger on the screen. */
let isPressed = false;
/** Whether there is no event stream. */
let isRefused = false;
/** Why the page is not up to date; empty if it is. */
let problem = "";
/** When the page was last up to date. */
let upToDate = new Date();

async function read() {
  if (document.hidden || isReading || isPressed) {
    isStale = true;
    return;
  }
  isReading = true;
  isStale = false;
  const slow = setTimeout(() => show("Not connected", "The dashboard does not answer."), longestWait);
  try {
    const begin = new Date();
    const signal = AbortSignal.timeout(60_000);
    const response = await fetch(location.href, { headers: { Accept: "text/html" }, signal });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    update(response, page, begin);
  } catch {
    show("Not connected", "The dashboard does not answer.");
  }
  clearTimeout(slow);
  isReading = false;
  if (isStale && !document.hidden) read();
}

function update(response, page, begin) {
  const next = page.querySelector("main");
  if (response.ok ? page.body.dataset.events : next?.isEqualNode(content)) {
    // A row or a button must not move away while a person clicks it.
    if (isPressed) {
      isStale = true;
      return;
    }
    morphContent(content, next);
    document.dispatchEvent(new Event("page-update"));
    document.title = page.title;
    upToDate = begin;
    show("");
    return;
  }
  const reason = next?.querySelector("p")?.textContent.trim() ?? "";
  if (response.status === 403) show("Not updated", `${reason} Reload the page.`);
  else if (response.status === 404) show("Not updated", reason);
  else show("Not connected", reason);
}

/** Shows whether the page is up to date, and if not, since when and why. */
function show(state, reason = "") {
  problem = state;
  sign.classList.toggle("on", !problem);
  sign.textContent = problem ? "not live" : isRefused ? "every 5 s" : "live";
  sign.title = problem || (isRefused
    ? "Too many event streams are open, so the page is updated every five seconds" : "The page follows the store");
  sign.hidden = false;
  warning.hidden = !problem;
  if (!problem) return;
  const timeZone = document.body.dataset.zone;
  const day = (date) => date.toLocaleDateString([], { timeZone });
  const time = upToDate.toLocaleString([], {
    dateStyle: day(upToDate) === day(new Date()) ? undefined : "medium", timeStyle: "short", hourCycle: "h23", timeZone,
  });
  const text = `${state} since ${time} ${timeZone}. The page shows the state at that time. ${reason}`;
  if (warning.textContent !== text) warning.textContent = text;
}

function receive(event) {
  isRefused = event === "refused";
  if (event !== "open" || problem) read();
  else show("");
}

function release() {
  isPressed = false;
  if (isStale && !document.hidden) read();
}

/** Returns a function that starts or stops listening for events, independently of other pages. */
function alone(address) {
  let stop = null;
  return (isVisible) => {
    if (isVisible) stop ??= listen(address, receive);
    else {
      stop?.();
      stop = null;
    }
  };
}

/** Returns such a function that uses one stream for all pages in this browser, if the browser supports it. */
function together(address) {
  if (typeof SharedWorker === "undefined") return alone(address);
  const worker = new SharedWorker(new URL("./stream.js", import.meta.url), { type: "module" });
  let send = (isVisible) => worker.port.postMessage({ isVisible, address });
  worker.addEventListener("error", () => {
    send = alone(address);
    send(!document.hidden);
  });
  worker.port.addEventListener("message", (message) => receive(message.data));
  worker.port.start();
  return (isVisible) => send(isVisible);
}

/** Follows the events while the page is visible. */
function follow() {
  const listening = together(new URL(document.body.dataset.events, location.href).href);
  const change = () => {
    listening(!document.hidden);
    if (!document.hidden) read();
  };
  listening(!document.hidden);
  document.addEventListener("visibilitychange", change);
  addEventListener("pagehide", () => listening(false));
  // The browser shows a page from its cache.
  addEventListener("pageshow", (event) => { if (event.persisted) change(); });
  addEventListener("pointerdown", () => { isPressed = true; }, true);
  for (const name of ["pointerup", "pointercancel"]) addEventListener(name, release, true);
  addEventListener("blur", release);
  setInterval(() => { if (problem || isRefused) read(); }, pause);
}

if (document.body.dataset.events) follow();
