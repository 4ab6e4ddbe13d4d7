import { timingSafeEqual } from "node:crypto";
import type { Cipher } from "../crypto/cipher.ts";
import { hourMs, secondMs } from "../durations.ts";
import { isId } from "../ids.ts";
import { pathTo, patterns } from "../paths.ts";
import type { Services } from "../services/services.ts";

// Agents upload and download without their token: what they may do is signed, and ends. A signature is an HMAC with
// SECRET_KEY, so every process knows those of the others, and those made with the previous key.

/** Files of a batch may take hours. */
const batchMs = 24 * hourMs;
const downloadMs = hourMs;

/** The artifacts that one request announced. */
export interface BatchKey {
  jobId: string;
  batchId: string;
}

type Signing = Pick<Services, "cipher" | "clock">;

/** The token of a batch, with which its files can be uploaded for a day. */
export function signBatch({ cipher, clock }: Signing, { jobId, batchId }: BatchKey): string {
  const text = `${jobId}.${batchId}.${secondsAfter(clock.now(), batchMs)}`;
  return `${text}.${signatureOf(cipher, "batch", text)}`;
}

/** Undefined: the token is not one of ours, or has ended. */
export function readBatch({ cipher, clock }: Signing, token: string): BatchKey | undefined {
  const [jobId = "", batchId = "", expires = "", signature = ""] = token.split(".");
  const text = `${jobId}.${batchId}.${expires}`;
  if (!isSigned(cipher, "batch", text, signature) || hasPassed(clock.now(), expires)) return undefined;
  return isId(jobId) && isId(batchId) ? { jobId, batchId } : undefined;
}

/** An address at which anybody can download an artifact until the time is over. Default: an hour. */
export function downloadUrl(
  { cipher, clock, config }: Signing & Pick<Services, "config">,
  id: string,
  forMs: number = downloadMs,
): string {
  const expires = String(secondsAfter(clock.now(), forMs));
  const query = new URLSearchParams({
    expires,
    signature: signatureOf(cipher, "download", `${id}.${expires}`),
  });
  return `${config.baseUrl}${pathTo(patterns.downloadArtifact, { id })}?${query}`;
}

/** Checks the query of such an address. */
export function maySignedDownload(
  { cipher, clock }: Signing,
  { id, expires, signature }: { id: string; expires: string; signature: string },
): boolean {
  return isSigned(cipher, "download", `${id}.${expires}`, signature) && !hasPassed(clock.now(), expires);
}

type Purpose = "batch" | "download";

function signatureOf(cipher: Cipher, purpose: Purpose, text: string): string {
  return cipher.macs(`artifact ${purpose} ${text}`)[0] as string;
}

function isSigned(cipher: Cipher, purpose: Purpose, text: string, signature: string): boolean {
  const given = Buffer.from(signature);
  return cipher.macs(`artifact ${purpose} ${text}`).some((mac) => {
    const expected = Buffer.from(mac);
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}

function secondsAfter(now: Date, ms: number): number {
  return Math.floor((now.getTime() + ms) / secondMs);
}

function hasPassed(now: Date, seconds: string): boolean {
  return !(Number(seconds) * secondMs > now.getTime());
}
