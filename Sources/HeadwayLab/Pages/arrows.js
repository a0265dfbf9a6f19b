// Curves with an arrow between boxes.

import { svg } from "./elements.js";

/** Returns the point on the edge of a box in the direction of another. */
export function onEdge(box, other) {
  const [dx, dy] = [other.x - box.x, other.y - box.y];
  const share = Math.min(box.halfWidth / (Math.abs(dx) || 1e-6), box.halfHeight / (Math.abs(dy) || 1e-6));
  return { x: box.x + dx * Math.min(1, share), y: box.y + dy * Math.min(1, share) };
}

/** Returns a curve from one point to another. `kind` is its class. */
export function arrow(from, to, kind) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  // Lines in opposite directions, and lines along a row, curve away from each other.
  const bow = Math.min(28, length * 0.15);
  const middle = { x: (from.x + to.x) / 2 - (dy / length) * bow, y: (from.y + to.y) / 2 + (dx / length) * bow };
  const angle = (Math.atan2(to.y - middle.y, to.x - middle.x) * 180) / Math.PI;
  const place = `translate(${to.x} ${to.y})`;
  return [
    svg("path", { class: `edge ${kind}`, d: `M${from.x} ${from.y}Q${middle.x} ${middle.y} ${to.x} ${to.y}` }),
    svg("path", { class: `arrow ${kind}`, d: "M0 0l-11-5v10z", transform: `${place} rotate(${angle})` }),
  ];
}
