import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { secondMs } from "../../../shared/durations.ts";
import type { Client } from "../wire/client.ts";
import { CallFailed } from "../wire/client.ts";
import { type AcceptedJob, sendChunk } from "../wire/requests.ts";
import { onAnyError, retry, waits } from "../wire/retry.ts";

const compress = promisify(gzip);
const maxUploads = 3;

/**
 * Sends a job's log in chunks: a full one at once, the rest at each interval. Keeps at most one chunk besides
 * those being sent: `write` waits while the server is slower than the command.
 */
export class LogSender {
  /** Chunks that the server refused or did not take for ten minutes. */
  failed = 0;
  readonly #send: (chunk: { sequence: number; offset: number; bytes: Buffer }) => Promise<void>;
  readonly #maxBytes: number;
  readonly #uploads = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #sequence = 0;
  #offset = 0;

  constructor(client: Client, job: AcceptedJob) {
    this.#maxBytes = job.chunks_max_size_bytes;
    this.#send = async ({ sequence, offset, bytes }) => {
      const chunk = { sequence, offset, size: bytes.length, gzip: await compress(bytes) };
      await retry(() => sendChunk(client, job.id, chunk), {
        waitsMs: waits.chunks,
        isRetryable: isTemporary,
      });
    };
    this.#timer = setInterval(() => this.#flushIfIdle(), (job.chunks_interval_seconds ?? 1) * secondMs);
  }

  /** Resolves when there is room for more. */
  async write(bytes: Buffer): Promise<void> {
    for (let from = 0; from < bytes.length; ) {
      const part = bytes.subarray(from, from + this.#maxBytes - this.#pendingBytes);
      this.#pending.push(part);
      this.#pendingBytes += part.length;
      from += part.length;
      if (this.#pendingBytes < this.#maxBytes) continue;
      while (this.#uploads.size >= maxUploads) await Promise.race(this.#uploads);
      this.#flush();
    }
  }

  /** Resolves once each chunk was sent or failed. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#flush();
    await Promise.all(this.#uploads);
  }

  #flushIfIdle(): void {
    if (this.#uploads.size < maxUploads) this.#flush();
  }

  #flush(): void {
    if (this.#pendingBytes === 0) return;
    const bytes = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#sequence += 1;
    const upload = this.#send({ sequence: this.#sequence, offset: this.#offset, bytes })
      .catch(() => {
        this.failed += 1;
      })
      .finally(() => this.#uploads.delete(upload));
    this.#offset += bytes.length;
    this.#uploads.add(upload);
  }
}

/** A 4xx, 429 included, is final for a chunk. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof CallFailed)) return onAnyError();
  return error.status === undefined || error.status >= 500;
}
