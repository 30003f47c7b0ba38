"use strict";
// Sliders choose one of the pictures beside them; the places along the axes count as digits do.
document.addEventListener("input", e => {
  const heat = e.target.closest(".heat");
  if (!heat) return;
  let at = 0;
  for (const s of heat.querySelectorAll("input[type=range]")) {
    at = at * (Number(s.max) + 1) + Number(s.value);
    s.nextElementSibling.textContent = s.value;
  }
  heat.querySelectorAll("img").forEach((img, i) => { img.hidden = i !== at; });
});
// What an operation of a graph is stands above the graph when it is chosen.
document.addEventListener("focusin", e => {
  const head = e.target.closest(".head");
  if (head) head.closest(".graph")?.querySelector(".about").replaceChildren(head.querySelector("title").textContent);
});
// Operations with graphs in them fold: the layers below them move, and so do those of the graphs around.
document.addEventListener("click", e => fold(e.target.closest(".head")));
document.addEventListener("keydown", e => {
  if ((e.key === "Enter" || e.key === " ") && fold(e.target.closest(".head"))) e.preventDefault();
});
function fold(head) {
  if (!head?.hasAttribute("aria-expanded")) return false;
  const open = head.getAttribute("aria-expanded") !== "true";
  head.setAttribute("aria-expanded", open);
  const name = head.querySelector("text"), inside = head.nextElementSibling;
  name.textContent = (open ? "▾" : "▸") + name.textContent.slice(1);
  inside.toggleAttribute("hidden", !open);
  for (let box = head.parentElement; box;) {
    measure(box);
    const drawing = box.closest(".drawing");
    stack(drawing);
    box = drawing.closest(".box");
  }
  return true;
}
// measure gives a box the size of what is in it.
function measure(box) {
  const [head, inside] = box.querySelectorAll(":scope > .head, :scope > .inside"), rect = head.querySelector("rect");
  let [width, high] = box.dataset.closed.split(" ").map(Number);
  if (!inside.hasAttribute("hidden")) {
    width = Number(box.dataset.w);
    high += 24 + Math.max(...[...inside.children].map(d => Number(d.dataset.h)));
  }
  rect.setAttribute("width", width);
  rect.setAttribute("height", high);
  rect.setAttribute("x", box.dataset.x - width / 2);
  box.dataset.h = high;
  box.querySelector(":scope > line")?.setAttribute("y1", high);
}
// stack puts the layers of a drawing below one another, and gives it their height.
function stack(drawing) {
  let y = 10;
  for (const row of drawing.children) {
    if (!row.matches(".layer, .gap")) continue;
    row.setAttribute("transform", `translate(0 ${y})`);
    let high = 30;
    if (row.matches(".layer")) {
      high = Math.max(0, ...[...row.children].map(b => Number(b.dataset.h ?? 0)));
      for (const line of row.querySelectorAll(":scope > line, :scope > .box > line")) line.setAttribute("y2", high);
    }
    y += high;
  }
  y += 10;
  drawing.dataset.h = y;
  if (drawing.matches("svg")) {
    drawing.setAttribute("height", y);
    drawing.setAttribute("viewBox", `0 0 ${drawing.getAttribute("width")} ${y}`);
  } else {
    drawing.querySelector(":scope > .region").setAttribute("height", y);
  }
}
// What changes while it is looked at is fetched again where the server says so.
const live = document.querySelector("[data-live]");
if (live) {
  const events = new EventSource(live.dataset.live);
  events.onmessage = async () => {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("[data-live]");
    if (fresh) live.replaceChildren(...fresh.childNodes);
  };
}
