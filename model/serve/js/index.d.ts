/** What an argument may contain: nested lists and records, bytes, and null for missing values. */
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

/** What results contain. Integers that a number cannot represent are bigints; strings that are not UTF-8 are bytes. */
export type Result = null | boolean | number | bigint | string | Uint8Array | Result[] | { [field: string]: Result };

export interface Options {
  /** For servers that require one. */
  token?: string;
  /** Maximum time of a call on the server in milliseconds. */
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
  /** Seconds after which to try again, if the server said so. */
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
