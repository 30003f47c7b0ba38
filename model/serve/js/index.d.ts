/** What may stand in an argument: nested lists and records, bytes, and null for what is missing. */
export type Value =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | ArrayBuffer
  | ArrayBufferView
  | readonly Value[]
  | { readonly [field: string]: Value };

/** What results are made of. Integers that a number does not hold are bigints, texts that are no UTF-8 bytes. */
export type Result = null | boolean | number | bigint | string | Uint8Array | Result[] | { [field: string]: Result };

export interface Options {
  /** For servers that ask for one. */
  token?: string;
  /** Milliseconds that a call may take on the server. */
  timeout?: number;
  headers?: Record<string, string>;
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
  timeout?: number;
}

export class ServeError extends Error {
  readonly function: string;
  readonly status: number;
  readonly text: string;
  /** Seconds after which to try again, where the server said so. */
  readonly retryAfter?: number;
}

export class Client {
  constructor(url: string | URL, options?: Options);
  functions(): Promise<string[]>;
  call<R extends { [name: string]: any } = { [name: string]: Result }>(name: string, args?: { [name: string]: any }, options?: CallOptions): Promise<R>;
  stream<R extends { [name: string]: any } = { [name: string]: Result }>(name: string, args?: { [name: string]: any }, options?: CallOptions): AsyncGenerator<R, void, undefined>;
}

export function encode(x: Value): string;
export function parse(text: string): Result;
