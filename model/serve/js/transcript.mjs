// Calls the functions that the tests of package serve have, and prints each call with what
// went to the server and what came of it.
import { Client, ServeError } from "./index.js";

const sent = [];
const c = new Client(process.argv[2], {
  timeout: 5000,
  fetch: async (url, init) => {
    if (init.method === "POST") sent.push({ path: new URL(url).pathname, body: init.body });
    return fetch(url, init);
  },
});

function shown(x) {
  return JSON.stringify(x, (_, v) => {
    if (typeof v === "bigint") return `bigint ${v}`;
    if (typeof v === "number" && !Number.isFinite(v)) return `number ${v}`;
    if (v instanceof Uint8Array) return `bytes ${[...v]}`;
    return v;
  });
}

async function call(name, args) {
  let result;
  try {
    result = shown(await c.call(name, args));
  } catch (e) {
    if (!(e instanceof ServeError)) throw e;
    result = `${e.status} ${e.text}`;
  }
  console.log(JSON.stringify({ ...sent.pop(), result }));
}

await call("sum", { x: [[1, 2.5], [], [Infinity, 1]] });
await call("sum", { x: [new Float64Array([1, 2]), [NaN]] });
await call("sum", { x: [] });
await call("sum", { x: [[-1]] });
await call("sum", { x: [["one"]] });
await call("same", { people: [{ name: "ann", tags: ["a", new Uint8Array([255, 0])], age: 7 }, { name: "bob", tags: [], age: null }, { name: "eve", tags: ["ü \"\\ \n"] }] });
await call("large", { id: [9007199254740993n, -9223372036854775808n, 5] });

const steps = [];
for await (const { i } of c.stream("count", { n: 3 })) steps.push(i);
console.log(JSON.stringify({ ...sent.pop(), result: shown(steps) }));
console.log(JSON.stringify({ path: "", body: "", result: (await c.functions()).join(" ") }));
try {
  await c.call("nothing", {});
} catch (e) {
  console.log(JSON.stringify({ path: "", body: "", result: `${e.status}` }));
}
