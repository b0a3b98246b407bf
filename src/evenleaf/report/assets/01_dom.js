// Elements are made by hand: every name from the data becomes a text node, never markup.
const SVG_SPACE = "http://www.w3.org/2000/svg";

function el(tag, properties, ...children) {
  return dress(document.createElement(tag), properties, children);
}

function draw(tag, properties, ...children) {
  return dress(document.createElementNS(SVG_SPACE, tag), properties, children);
}

function dress(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  return add(element, ...children);
}

const there = (child) => child !== null && child !== undefined && child !== "";

function add(element, ...children) {
  element.append(...children.flat(4).filter(there));
  return element;
}

function fill(element, ...children) {
  element.replaceChildren();
  return add(element, ...children);
}

function body(section) {
  const found = document.getElementById(section);
  found.hidden = false;
  return found.querySelector(".body");
}

// A part of the page that follows the handle. Whoever stands on a button in it with the keyboard stays there.
function follows(element, render) {
  const stops = () => [...element.querySelectorAll("button, input, select, summary, [tabindex]")];
  const update = () => {
    const stand = stops().indexOf(document.activeElement);
    fill(element, render(state.tree()));
    if (stand >= 0) stops()[stand]?.focus({ preventScroll: true });
  };
  state.listen(update);
  update();
  return element;
}

function table(headings, rows, properties) {
  const head = el("tr", null, headings.map((text) => el("th", { scope: "col" }, text)));
  const lines = rows.map(([first, ...rest]) =>
    el("tr", null, el("th", { scope: "row" }, first), rest.map((cell) => el("td", null, cell)))
  );
  return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": properties["aria-label"] },
    el("table", null, el("caption", { class: "unseen" }, properties["aria-label"]), el("thead", null, head), el("tbody", null, lines)));
}
