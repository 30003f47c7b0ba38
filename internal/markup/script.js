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
