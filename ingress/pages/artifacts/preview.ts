import { downloadUrl } from "../../../shared/artifacts/signatures.ts";
import type { Artifact } from "../../../shared/artifacts/store.ts";
import { artifactBlob, BlobsUnavailable } from "../../../shared/blobs/blobs.ts";
import { hourMs } from "../../../shared/durations.ts";
import type { Services } from "../../../shared/services/services.ts";

export type Preview =
  | { kind: "text"; text: string; isWhole: boolean }
  | { kind: "picture"; url: string }
  | { kind: "none" };

export const maxTextBytes = 256 * 1024;
const maxPictureBytes = 20 * 1024 ** 2;
const pictureType = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
/** A text has none of these: neither NUL nor other control characters, but for colors and white space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it looks for them
const binary = /[\0-\x07\x0e-\x1a\x1c-\x1f\x7f]/;

/**
 * Finds out what a page shows of an artifact: a picture, or the first 256 KB of a text, which its bytes tell. Types are
 * mere claims of agents. Pictures come from the signed address, where scripts in them do not run.
 */
export async function previewOf(services: Services, artifact: Artifact): Promise<Preview> {
  const { id, state, size, contentType, uploadDestination } = artifact;
  if (state !== "finished" || uploadDestination !== null) return { kind: "none" };
  if (pictureType.test(contentType) && size > 0 && size <= maxPictureBytes)
    return { kind: "picture", url: `${downloadUrl(services, id, hourMs)}&through=1` };
  const bytes = await readStart(services, artifact);
  const isWhole = size <= maxTextBytes;
  const text = bytes && decode(bytes, isWhole);
  return text === undefined ? { kind: "none" } : { kind: "text", text, isWhole };
}

/** Undefined: the store is away, or has no bytes. */
async function readStart({ blobs, log }: Services, { id, size }: Artifact): Promise<Buffer | undefined> {
  if (size === 0) return Buffer.alloc(0);
  const range = { from: 0, to: Math.min(size, maxTextBytes) - 1 };
  try {
    const found = await blobs.read(artifactBlob(id), range);
    if (!found) return undefined;
    const pieces: Uint8Array[] = [];
    for await (const piece of found.pieces) pieces.push(piece);
    return Buffer.concat(pieces);
  } catch (error) {
    if (!(error instanceof BlobsUnavailable)) throw error;
    log.warn({ err: error }, "could not read an artifact for its page");
    return undefined;
  }
}

/** Undefined: it is no text. @param isWhole false: the last character may be cut */
function decode(bytes: Buffer, isWhole: boolean): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole });
    return binary.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
