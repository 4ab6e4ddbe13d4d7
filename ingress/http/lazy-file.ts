import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type H3Event, HTTPResponse } from "h3";
import { acceptsGzip } from "./compression.ts";

type Bytes = Buffer<ArrayBuffer>;
const compress = promisify(gzip);

interface Contents {
  plain: Bytes;
  gzipped: Bytes;
  version: string;
}

/**
 * A file that is made at its first request, so that an idle process does not hold it. All answers share the same
 * bytes, however many clients read them slowly.
 */
export class LazyFile {
  readonly #make: () => Bytes | Promise<Bytes>;
  readonly #keepMs: number | undefined;
  #contents: Promise<Contents> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param keepMs time without a request after which the bytes are dropped; absent: never */
  constructor(make: () => Bytes | Promise<Bytes>, keepMs?: number) {
    this.#make = make;
    this.#keepMs = keepMs;
  }

  /** Answers 304 to a known ETag (RFC 9110 §13.1.2). Compresses for clients that accept gzip. */
  async answer(event: H3Event, headers: Record<string, string>): Promise<HTTPResponse> {
    const { plain, gzipped, version } = await this.#load();
    const isGzip = acceptsGzip(event);
    // Two representations may not share a strong ETag.
    const etag = isGzip ? `"${version}-gzip"` : `"${version}"`;
    const common = { etag, vary: "Accept-Encoding", ...headers };
    if (isKnown(event.req.headers.get("if-none-match"), etag))
      return new HTTPResponse(null, { status: 304, headers: common });
    if (!isGzip) return new HTTPResponse(plain, { headers: common });
    return new HTTPResponse(gzipped, { headers: { ...common, "content-encoding": "gzip" } });
  }

  #load(): Promise<Contents> {
    this.#contents ??= this.#open().catch((error) => {
      this.#contents = undefined;
      throw error;
    });
    clearTimeout(this.#timer);
    if (this.#keepMs !== undefined) this.#timer = setTimeout(() => this.#drop(), this.#keepMs).unref();
    return this.#contents;
  }

  #drop(): void {
    this.#contents = undefined;
  }

  async #open(): Promise<Contents> {
    const plain = await this.#make();
    const gzipped = (await compress(plain, { level: 9 })) as Bytes;
    return { plain, gzipped, version: hash("sha256", plain, "hex").slice(0, 16) };
  }
}

function isKnown(header: string | null, etag: string): boolean {
  if (header?.trim() === "*") return true;
  const known = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return known.includes(etag);
}
