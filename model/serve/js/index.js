// A client for servers of package model/serve. Values are nested: lists of any lengths,
// records as objects, and null for missing values.

/** An error that a server returned. */
export class ServeError extends Error {
  constructor(name, status, text, retryAfter) {
    super(`${name}: the server answered ${status}: ${text}`);
    this.name = "ServeError";
    this.function = name;
    this.status = status;
    this.text = text;
    this.retryAfter = retryAfter;
  }
}

export class Client {
  #url; #options; #description;

  constructor(url, options = {}) {
    this.#url = String(url).replace(/\/+$/, "");
    this.#options = options;
  }

  /** The names of the functions. */
  async functions() {
    return Object.keys(await this.#paths()).map(p => decodeURIComponent(p.slice("/call/".length))).sort();
  }

  /** Calls a function with an object of its arguments; returns an object of its results. */
  async call(name, args = {}, options = {}) {
    const schema = await this.#results(name);
    const r = await this.#send(name, callPath(name), { method: "POST", body: encode(args) }, options);
    return revive(parse(await r.text()), schema);
  }

  /** Calls a function that sends a stream of results. */
  async *stream(name, args = {}, options = {}) {
    const schema = await this.#results(name);
    const r = await this.#send(name, callPath(name), { method: "POST", body: encode(args) }, options);
    const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    try {
      for (;;) {
        const { value, done } = await reader.read();
        rest += value ?? "";
        const lines = rest.split("\n");
        rest = done ? "" : lines.pop();
        for (const line of lines) {
          if (!line) continue;
          const x = parse(line);
          if ("error" in x && !("error" in (schema.properties ?? {}))) throw new ServeError(name, 500, x.error);
          yield revive(x, schema);
        }
        if (done) return;
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  async #send(name, path, init, { signal, timeout = this.#options.timeout } = {}) {
    const headers = { ...this.#options.headers };
    if (init.body !== undefined) headers["Content-Type"] = "application/json";
    if (this.#options.token) headers.Authorization = "Bearer " + this.#options.token;
    if (timeout) headers["X-Timeout-Ms"] = String(Math.ceil(timeout));
    const r = await (this.#options.fetch ?? fetch)(this.#url + path, { ...init, headers, signal });
    if (r.ok) return r;
    let text = await r.text();
    try {
      text = JSON.parse(text).error ?? text;
    } catch { /* not JSON: shown as it is */ }
    const after = Number(r.headers.get("Retry-After"));
    throw new ServeError(name, r.status, text, after > 0 ? after : undefined);
  }

  async #paths() {
    this.#description ??= this.#send("openapi.json", "/openapi.json", {}).then(r => r.json());
    try {
      return (await this.#description).paths;
    } catch (e) {
      this.#description = undefined; // it will be requested again
      throw e;
    }
  }

  /** The schema of a function's results. */
  async #results(name) {
    let path = (await this.#paths())[callPath(name)];
    if (!path) { // it may be newer than the description
      this.#description = undefined;
      path = (await this.#paths())[callPath(name)];
    }
    if (!path) throw new ServeError(name, 404, "there is no function of this name with a type that JSON tells");
    return Object.values(path.post.responses["200"].content)[0].schema;
  }
}

function callPath(name) {
  return "/call/" + encodeURIComponent(name);
}

/** Writes a value as JSON: bigints as integers, bytes as {"b64": …}, NaN and infinities as strings. */
export function encode(x) {
  switch (typeof x) {
    case "bigint":
      return x.toString();
    case "number":
      if (Number.isFinite(x)) return Object.is(x, -0) ? "-0.0" : String(x);
      return JSON.stringify(String(x));
    case "string":
      if (!x.isWellFormed?.() && /[\ud800-\udfff]/.test(x) && !wellFormed(x)) throw new TypeError("a string holds half of a surrogate pair");
      return JSON.stringify(x);
    case "boolean":
      return String(x);
    case "undefined":
      return "null";
    case "object":
      break;
    default:
      throw new TypeError(`a ${typeof x} is no value`);
  }
  if (x === null) return "null";
  if (x instanceof ArrayBuffer) x = new Uint8Array(x);
  if (x instanceof Uint8Array) return `{"b64":"${base64(x)}"}`;
  if (Array.isArray(x) || ArrayBuffer.isView(x)) return "[" + Array.from(x, encode).join(",") + "]";
  return "{" + Object.entries(x).filter(([, v]) => v !== undefined).map(([k, v]) => JSON.stringify(k) + ":" + encode(v)).join(",") + "}";
}

function wellFormed(s) {
  try {
    encodeURIComponent(s);
    return true;
  } catch {
    return false;
  }
}

function base64(bytes) {
  let s = "";
  for (let i = 0; i < bytes.length; i += 0x8000) s += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(s);
}

const long = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;

/** Parses JSON; integers that a number cannot represent exactly become bigints. */
export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const mark = crypto.randomUUID() + ":"; // no string in the answer begins with it
  const marked = text.replace(long, t => t[0] === '"' || Number.isSafeInteger(Number(t)) ? t : `"${mark}${t}"`);
  return JSON.parse(marked, (_, x) => typeof x === "string" && x.startsWith(mark) ? BigInt(x.slice(mark.length)) : x);
}

/** Converts a value to the types in its schema. */
function revive(x, s) {
  if (s.anyOf) {
    const [inner, other] = s.anyOf;
    if (other.type === "null") return x === null ? null : revive(x, inner);
    if (other.enum) return typeof x === "string" ? Number(x) : x;
    if (x !== null && typeof x === "object") return Uint8Array.from(atob(x.b64), c => c.charCodeAt(0));
    return x;
  }
  if (s.type === "array") return plain(s.items) ? x : x.map(e => revive(e, s.items));
  if (s.type === "object") {
    for (const [k, p] of Object.entries(s.properties)) if (k in x) x[k] = revive(x[k], p);
  }
  return x;
}

/** Whether values of a schema need no conversion. */
function plain(s) {
  return s.type === "integer" || s.type === "boolean";
}
