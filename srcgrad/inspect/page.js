"use strict";

const lines = [...document.querySelectorAll(".line")];
const rows = [...document.querySelectorAll("tr[data-at]")];
const details = [...document.querySelectorAll("#detail section")];
const hint = document.querySelector("#detail .hint");
let pinned = null;

const placesOf = (line) => (line.dataset.at ? line.dataset.at.split(" ") : []);
const shares = (line, places) => placesOf(line).some((place) => places.includes(place));
const sideOf = (line) => line.closest(".side");

// Light up the partners of a line on the other side, and tell what became of it.
function show(line) {
  const places = line ? placesOf(line) : [];
  for (const other of lines) {
    const partner = line && sideOf(other) !== sideOf(line) && shares(other, places);
    other.classList.toggle("lit", Boolean(partner));
    other.classList.toggle("here", other === line);
    other.setAttribute("aria-selected", String(Boolean(partner) || other === line));
  }
  for (const row of rows) row.classList.toggle("lit", Boolean(line) && shares(row, places));
  const told = line ? details.filter((part) => places.includes(part.dataset.at)) : [];
  for (const part of details) part.hidden = part !== told[0];
  hint.hidden = told.length > 0;
  for (const arc of document.querySelectorAll(".arcs g")) {
    const ends = arc.dataset.lines.split(" ");
    const touched = lines.some(
      (other) =>
        (other === line || other.classList.contains("lit")) &&
        other.closest("#panel-emitted") &&
        ends.includes(other.dataset.line),
    );
    arc.classList.toggle("lit", Boolean(line) && touched);
  }
}

for (const line of lines) {
  line.addEventListener("mouseenter", () => show(line));
  line.addEventListener("mouseleave", () => show(pinned));
  line.addEventListener("focus", () => show(line));
  line.addEventListener("blur", () => show(pinned));
  line.addEventListener("click", () => {
    pinned = pinned === line ? null : line;
    show(line);
  });
}

// Arrow keys move among the lines of a listing, of which one can be reached with Tab.
for (const listing of document.querySelectorAll('[role="listbox"]')) {
  const own = [...listing.querySelectorAll(".line")];
  if (own.length) own[0].tabIndex = 0;
  listing.addEventListener("keydown", (event) => {
    const at = own.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: own.length - 1 }[event.key];
    if (event.key === "Escape") {
      pinned = null;
      show(null);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      document.activeElement.click();
    } else if (at >= 0 && to !== undefined && own[to]) {
      event.preventDefault();
      own[at].tabIndex = -1;
      own[to].tabIndex = 0;
      own[to].focus();
    }
  });
}

// Tabs

const tabs = [...document.querySelectorAll('[role="tab"]')];

function select(tab) {
  for (const other of tabs) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
  }
}

for (const tab of tabs) {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(tab);
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const to = tabs[(steps[event.key] + tabs.length) % tabs.length];
    select(to);
    to.focus();
  });
}

// Arrows from where a value is kept to where it is used, in the gutter: short ones inside.

function drawArcs() {
  const panel = document.getElementById("panel-emitted");
  const listing = panel.querySelector(".code");
  const own = [...listing.querySelectorAll(".line")];
  const kept = JSON.parse(panel.dataset.kept).sort((a, b) => a.to - a.from - (b.to - b.from));
  const lanes = new Map();
  const svg = element("svg", { class: "arcs", "aria-hidden": "true" });
  const middle = (n) => own[n - 1].offsetTop + own[n - 1].offsetHeight / 2;
  for (const arc of kept) {
    const crossed = kept.filter((o) => lanes.has(o) && o.from < arc.to && arc.from < o.to);
    lanes.set(arc, 1 + Math.max(-1, ...crossed.map((o) => lanes.get(o))));
    const [y, end] = [middle(arc.from), middle(arc.to)];
    const x = 10 + Math.min(lanes.get(arc), 7) * 7;
    const r = Math.min(6, x / 2, (end - y) / 2);
    const d = `M0 ${y} H${x - r} Q${x} ${y} ${x} ${y + r} V${end - r} Q${x} ${end} ${x - r} ${end} H5`;
    const group = element("g", {
      class: arc.listed ? "listed" : "kept",
      "data-lines": `${arc.from} ${arc.to}`,
    });
    const title = element("title", {});
    title.textContent = arc.name;
    const head = element("path", { class: "head", d: `M0 ${end} l6 -3.5 v7 z` });
    group.append(title, element("path", { d }), head);
    svg.append(group);
  }
  listing.querySelector(".arcs")?.remove();
  listing.append(svg);
}

function element(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

new ResizeObserver(drawArcs).observe(document.getElementById("panel-emitted"));

// Themes: as the system has it, until the button is pressed.

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark =
    root.dataset.theme === "dark" ||
    (root.dataset.theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "light" : "dark";
});
