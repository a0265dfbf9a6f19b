// Creates elements. Text is set as text, never as markup.

const svgNamespace = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** Creates an HTML element with attributes, listeners (`onclick`) and children. */
export function html(name, properties = {}, ...children) {
  return fill(document.createElement(name), properties, children);
}

/** Creates an SVG element with attributes, listeners and children. */
export function svg(name, properties = {}, ...children) {
  return fill(document.createElementNS(svgNamespace, name), properties, children);
}

export const byId = (id) => document.getElementById(id);

/** Sets a text only if it differs, so that screen readers announce only changes. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export const seconds = (value) => `${value.toFixed(2)} s`;
export const milliseconds = (value) => (value < 1000 ? `${Math.round(value)} ms` : seconds(value / 1000));
export const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
export const thousands = (value) => Math.round(value).toLocaleString("en");
