import type { H3Event } from "h3";
import { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import type { PayloadFormat } from "../../shared/triggers/payloads/form.ts";
import type { StoredHeader } from "../../shared/vocabulary.ts";
import { hasUtf8Charset, mediaType } from "../http/content-type.ts";
import { nodeRequest } from "../http/node.ts";

const maxIdempotencyKeyLength = 255;
const maxIndexedLength = 255;
const jsonType = "application/json";
const formType = "application/x-www-form-urlencoded";
const formTypes = [formType, "multipart/form-data"];
/** Values of headers with these names are never stored. */
const secretName =
  /authorization|(^|-)auth(-|$)|cookie|token|secret|passw|credential|(api|auth|access|private|signing)-?key|signature/i;

/**
 * Returns the Content-Type header, and the format that it names.
 * @param takesForms the payload may be in a form
 * @throws DeliveryRefusal 415
 */
export function requireFormat(
  headers: Headers,
  takesForms: boolean,
): { contentType: string; format: PayloadFormat } {
  const contentType = headers.get("content-type") ?? "";
  const isForm =
    takesForms &&
    contentType !== jsonType &&
    mediaType(contentType) === formType &&
    hasUtf8Charset(contentType);
  if (contentType !== jsonType && !isForm) requireJsonType(contentType);
  const encoding = headers.get("content-encoding") || "identity";
  if (encoding.trim().toLowerCase() !== "identity") throw new DeliveryRefusal("wrong_encoding");
  return { contentType, format: isForm ? "form" : "json" };
}

function requireJsonType(contentType: string): void {
  const type = mediaType(contentType);
  if (formTypes.includes(type)) throw new DeliveryRefusal("form_content_type");
  if (type !== jsonType || !hasUtf8Charset(contentType)) throw new DeliveryRefusal("wrong_content_type");
}

/** @throws DeliveryRefusal 400 if the key is too long */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key !== null && key.length > maxIdempotencyKeyLength) throw new DeliveryRefusal("long_idempotency_key");
  return key || undefined;
}

/** A header of the trigger's type, cut to 255 characters: lists are filtered by it. */
export function readIndexed(headers: Headers, name: string | undefined): string | null {
  return (name && headers.get(name)?.slice(0, maxIndexedLength)) || null;
}

/** All headers, with null for the values of secrets and signatures. */
export function storedHeaders(event: H3Event, signatures: { header: string }[]): StoredHeader[] {
  const isSecret = (name: string) =>
    secretName.test(name) || signatures.some(({ header }) => isSameName(header, name));
  const { rawHeaders } = nodeRequest(event);
  const stored: StoredHeader[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    stored.push([name, isSecret(name) ? null : (rawHeaders[index + 1] as string)]);
  }
  return stored;
}

function isSameName(one: string, other: string): boolean {
  return one.length === other.length && one.toLowerCase() === other.toLowerCase();
}
