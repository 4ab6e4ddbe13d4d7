import { Outage } from "../sharing/gatherer.ts";

/**
 * Stores bytes under names that rows know. Bytes come first: a row says that it has them once they are stored. A background
 * job removes the blobs that no row names.
 */
export interface Blobs {
  readonly kind: "files" | "bucket";
  /** For operators, without secrets: a folder, or the address of a bucket. */
  readonly place: string;
  /**
   * Stores the content if it is as expected. Until then the name has what it had before. Once this returns, no crash
   * loses it.
   * @throws BlobsUnavailable; what the content throws
   */
  write(name: string, content: AsyncIterable<Uint8Array>, expected: Expected): Promise<Mismatch | undefined>;
  /**
   * Undefined: there is none. The pieces are at most 64 KB. Nothing is open before the first one is asked for.
   * @throws BlobsUnavailable, also from the pieces: when the blob was deleted meanwhile
   */
  read(name: string, range?: ByteRange): Promise<BlobContent | undefined>;
  /** @throws BlobsUnavailable */
  find(name: string): Promise<StoredBlob | undefined>;
  /** Names without a blob are no error. @throws BlobsUnavailable */
  delete(names: readonly string[]): Promise<void>;
  /** Lists names in their order, up to a thousand. @throws BlobsUnavailable */
  list(options: { after?: string | undefined }): Promise<{ names: string[]; next: string | undefined }>;
  /** Removes the leftovers of uploads that never ended. @throws BlobsUnavailable */
  discardUnfinished(options: Unfinished): Promise<number>;
  /** Undefined: all bytes pass through the ingress. */
  readonly direct: DirectTransfers | undefined;
  close(): Promise<void>;
}

export interface Expected {
  bytes: number;
  /** Lower-case hex, as is SHA-256. */
  sha1: string;
  sha256?: string | null;
}

/** The first difference that was found. */
export type Mismatch = "size" | "sha1" | "sha256";

/** Both ends are included. */
export interface ByteRange {
  from: number;
  to: number;
}

export interface BlobContent {
  /** Of the whole blob. */
  bytes: number;
  pieces: AsyncGenerator<Uint8Array>;
}

export interface StoredBlob {
  bytes: number;
  storedAt: Date;
}

export interface Unfinished {
  now: Date;
  /** Returns those of the names whose upload may still go on. */
  findAwaited: (names: string[]) => Promise<Set<string>>;
}

/** Agents and browsers send and get bytes at signed addresses, which need no other authentication. */
export interface DirectTransfers {
  /** Begins an upload in parts, with an address for each, which are good for six hours. @throws BlobsUnavailable */
  beginUpload(name: string, bytes: number): Promise<DirectUpload>;
  /**
   * Makes one blob of the parts. Repeats of a completed upload are "completed" too. Compare the blob by `checkBlob`
   * before you trust it.
   * @throws BlobsUnavailable
   */
  completeUpload(name: string, uploadId: string, parts: UploadedPart[]): Promise<"completed" | "refused">;
  /** An unknown upload is no error. @throws BlobsUnavailable */
  abortUpload(name: string, uploadId: string): Promise<void>;
  /** An address that answers with the blob. @throws BlobsUnavailable */
  signDownload(name: string, answer: SignedAnswer): Promise<string>;
}

export interface DirectUpload {
  uploadId: string;
  /** Numbered from 1. Each answer has an `ETag`. */
  parts: { partNumber: number; url: string }[];
}

export interface UploadedPart {
  partNumber: number;
  etag: string;
}

export interface SignedAnswer {
  seconds: number;
  contentType: string;
  contentDisposition: string;
}

/** The same call may succeed later. */
export class BlobsUnavailable extends Outage {
  override readonly name = "BlobsUnavailable";
}

/** There is no room for the content. */
export class NoRoomForBlob extends BlobsUnavailable {}

/** @param id a UUIDv7: its first digits are the time, its last ones spread over 256 folders */
export function artifactBlob(id: string): string {
  return `artifacts/${id.slice(-2)}/${id}`;
}

const artifactName = /^artifacts\/([0-9a-f]{2})\/([0-9a-f-]{34}\1)$/;

/** Returns the id of the artifact. Undefined for a name that `artifactBlob` does not give. */
export function artifactIdOf(name: string): string | undefined {
  return artifactName.exec(name)?.[2];
}
