import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { secondMs } from "../../../shared/durations.ts";
import { CallFailed, describe, toFailure } from "./client.ts";

/** Files go to addresses that need no token. A transfer slower than this over its whole time is given up. */
const minBytesPerSecond = 128 * 1024;
const graceMs = 60 * secondMs;

export interface Form {
  method: string;
  form: FormData;
  /** Of the file. */
  bytes: number;
  signal: AbortSignal | undefined;
}

/** @throws CallFailed unless the answer is 2xx */
export async function sendForm(url: string, { method, form, bytes, signal }: Form): Promise<void> {
  const timeout = timeoutFor(bytes);
  const init = { method, body: form, signal: signal ? AbortSignal.any([signal, timeout]) : timeout };
  const response = await fetch(url, init).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw new CallFailed(describe(error));
  });
  if (!response.ok) throw await toFailure(response);
  await response.body?.cancel();
}

/** Writes the answer to a file. @throws CallFailed, or what the file system throws */
export async function fetchFile(url: string, { place, bytes }: { place: string; bytes: number }) {
  const response = await fetch(url, { signal: timeoutFor(bytes) }).catch((error: unknown) => {
    throw new CallFailed(describe(error));
  });
  if (!response.ok) throw await toFailure(response);
  await pipeline(response.body ?? [], createWriteStream(place));
}

function timeoutFor(bytes: number): AbortSignal {
  return AbortSignal.timeout(graceMs + Math.ceil((bytes / minBytesPerSecond) * secondMs));
}
