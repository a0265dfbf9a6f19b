// Changes a part of the page into its newer version, and keeps every node that is in both.
// See Docs/decisions/0043-live-pages.md.
//
// The nodes hold the selection, the focus, typed text, and open and scrolled elements, so these remain. A node that a
// person has touched stays in the page even if the newer version no longer contains it. Its class is `gone`.

/** Returns the key that identifies an element among the children of its parent; empty if it has none. */
function key(node) {
  // The property `id` of a form that has a field named `id` is that field.
  return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("id") || node.dataset.key || "" : "";
}

function isSame(old, next) {
  return old.nodeType === next.nodeType && old.nodeName === next.nodeName && key(old) === key(next);
}

/** Whether a person has changed the value of a control. */
function isEdited(control) {
  if (control.nodeName === "SELECT") return changedChoice(control) !== null;
  // The value of a box without the attribute `value` is not its default value.
  if (control.type === "checkbox" || control.type === "radio") return control.checked !== control.defaultChecked;
  return control.value !== control.defaultValue;
}

/** Whether an element has the focus, selected text, or changed controls. */
function isTouched(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return false;
  return node.contains(document.activeElement) || isSelected(node)
    || [...node.querySelectorAll("input, select, textarea")].some(isEdited);
}

/** Whether a person might be using a list of choices, which must not change then. */
function isInUse(node) {
  const focused = document.activeElement;
  return (node.nodeName === "SELECT" && node === focused) || (node.nodeName === "DATALIST" && focused?.list === node);
}

/** Whether a hidden field identifies the value that a person has begun to edit in the control next to it. */
function isBase(node) {
  return node.type === "hidden" && node.parentNode.nodeName === "LABEL"
    && [...node.parentNode.querySelectorAll("input, select, textarea")].some(isEdited);
}

function isGone(node) {
  return node.nodeType === Node.ELEMENT_NODE && node.classList.contains("gone");
}

/** Removes a node, unless a person has touched it. */
function remove(node) {
  if (isTouched(node)) node.classList.add("gone");
  else node.remove();
}

function morphAttributes(old, next) {
  // A person opens and closes details.
  const isKept = (name) => old.nodeName === "DETAILS" && name === "open";
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !isKept(name)) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !isKept(name)) old.removeAttribute(name);
  }
}

/** Removes the nodes from the first one up to, but not including, the second one, and returns the second one. */
function removeUpTo(node, end) {
  while (node !== end) {
    const following = node.nextSibling;
    remove(node);
    node = following;
  }
  return end;
}

/** Returns the first node, starting at this one, that fulfills a condition. Stops at another element with a key. */
function search(node, condition) {
  while (node && !condition(node) && !key(node)) node = node.nextSibling;
  return node && condition(node) ? node : null;
}

function morphChildren(parent, next) {
  const keys = new Set([...next.childNodes].map(key));
  // Removed elements must not shift the other elements.
  for (const child of [...parent.childNodes]) {
    if (key(child) && !keys.has(key(child))) remove(child);
  }
  const found = new Map([...parent.childNodes].map((child) => [key(child), child]));
  let place = parent.firstChild;
  for (const child of [...next.childNodes]) {
    while (place && isGone(place) && !keys.has(key(place))) place = place.nextSibling;
    const name = key(child);
    let old = null;
    if (name) {
      old = found.get(name) ?? null;
      found.delete(name);
      if (search(place, (node) => node === old)) place = removeUpTo(place, old);
    } else if (child.nodeType === Node.ELEMENT_NODE) {
      old = search(place, (node) => isSame(node, child));
      if (old) place = removeUpTo(place, old);
    } else if (place && !key(place)) {
      old = place;
    }
    if (old && isSame(old, child)) {
      if (old === place) place = place.nextSibling;
      else parent.insertBefore(old, place);
      morph(old, child);
    } else {
      parent.insertBefore(document.importNode(child, true), place);
    }
  }
  removeUpTo(place, null);
}

function morph(old, next) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== next.nodeValue && !isSelected(old)) old.nodeValue = next.nodeValue;
  } else if (!isInUse(old) && !isBase(old) && old.dataset.keep === undefined && !old.isEqualNode(next)) {
    const choice = changedChoice(old);
    morphAttributes(old, next);
    morphChildren(old, next);
    if (choice !== null) old.value = choice;
  }
}

/** Whether a person has selected a text, or a part of it. */
function isSelected(node) {
  const selection = getSelection();
  return !selection.isCollapsed && selection.containsNode(node, true);
}

/** Returns the value that a person has chosen in a menu, which a new default would replace; otherwise null. */
function changedChoice(node) {
  if (node.nodeName !== "SELECT" || node.selectedOptions[0]?.defaultSelected !== false) return null;
  return [...node.options].some((option) => option.defaultSelected) ? node.value : null;
}

/** Changes an element into its newer version. The element keeps its attributes. */
export function morphContent(element, next) {
  const focused = document.activeElement;
  const selection = getSelection();
  const { anchorNode, anchorOffset, focusNode, focusOffset } = selection;
  morphChildren(element, next);
  // A moved element has lost the focus.
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
  if (anchorNode?.isConnected && focusNode?.isConnected && anchorNode !== focusNode
    && (selection.anchorNode !== anchorNode || selection.focusNode !== focusNode)) {
    selection.setBaseAndExtent(anchorNode, anchorOffset, focusNode, focusOffset);
  }
}
