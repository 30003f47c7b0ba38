// Finds pages by words, in the index that search.js holds: no server is asked.
"use strict";
const root = document.getElementById("root").getAttribute("href").replace(/index\.html$/, "");
const field = document.getElementById("search"), found = document.getElementById("found");

function slug(heading) {
	return heading.toLowerCase().trim().replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
}

function find(query) {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0) return [];
	const hits = [];
	for (const p of pages) {
		const title = p.title.toLowerCase(), text = p.text.toLowerCase();
		let score = 0, head = "";
		for (const w of words) {
			let s = title.includes(w) ? 20 : 0;
			const h = p.heads.find(x => x.toLowerCase().includes(w));
			if (h) { s += 10; head ||= h; }
			const n = text.split(w).length - 1;
			s += Math.min(n, 8);
			if (s === 0) { score = 0; break; }
			score += s;
		}
		if (score > 0) {
			const at = Math.max(0, text.indexOf(words[0]) - 60);
			hits.push({ score, title: head ? p.title + ": " + head : p.title, url: p.url + (head ? "#" + slug(head) : ""), text: p.text.slice(at, at + 160) });
		}
	}
	return hits.sort((a, b) => b.score - a.score).slice(0, 12);
}

function show() {
	found.replaceChildren(...find(field.value).map(h => {
		const li = document.createElement("li"), a = document.createElement("a"), p = document.createElement("p");
		a.href = root + h.url;
		a.textContent = h.title;
		p.textContent = h.text;
		li.append(a, p);
		return li;
	}));
	found.hidden = found.childElementCount === 0;
}

field.addEventListener("input", show);
document.addEventListener("keydown", e => {
	if (e.key === "/" && document.activeElement !== field) { e.preventDefault(); field.focus(); }
	if (e.key === "Escape") { field.value = ""; show(); }
	if (e.key === "Enter" && document.activeElement === field) found.querySelector("a")?.click();
});
const asked = new URLSearchParams(location.search).get("q");
if (asked) { field.value = asked; show(); }
