import type { H3Event } from "h3";
import { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import type { RequestParts } from "../../shared/triggers/deliveries/refused-requests.ts";
import type { StoredHeader } from "../../shared/vocabulary.ts";
import { clientIp } from "../http/client-address.ts";
import { hasUtf8Charset, mediaType } from "../http/content-type.ts";
import { networkOf } from "../http/network.ts";
import { nodeRequest } from "../http/node.ts";

const maxIdempotencyKeyLength = 255;
const maxIndexedLength = 255;
const jsonType = "application/json";
const formTypes = ["application/x-www-form-urlencoded", "multipart/form-data"];
/** Values of headers and of parameters with these names are never stored. */
const secretName = /authorization|cookie|token|secret|password|api-?key/i;
const secretOrSignatureName = new RegExp(`${secretName.source}|signature`, "i");

/** Returns the Content-Type header. @throws DeliveryRefusal 415 */
export function requireJson(headers: Headers): string {
  const contentType = headers.get("content-type") ?? "";
  if (contentType !== jsonType) requireJsonType(contentType);
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity")
    throw new DeliveryRefusal("wrong_encoding");
  return contentType;
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

/** The parts of a refused request without its secrets. Signatures stay: their readers may see the payload too. */
export function requestParts(event: H3Event, body: Buffer | undefined): RequestParts {
  const query = new URLSearchParams(event.url.searchParams);
  for (const name of new Set(query.keys())) if (secretName.test(name)) query.set(name, "redacted");
  return {
    network: networkOf(clientIp(event)),
    headers: headersWithout(event, (name) => secretName.test(name)),
    query: `${query}`,
    body,
  };
}

/** All headers, with null for the values of secrets and signatures. */
export function storedHeaders(event: H3Event, signatures: { header: string }[]): StoredHeader[] {
  return headersWithout(
    event,
    (name) => secretOrSignatureName.test(name) || signatures.some(({ header }) => isSameName(header, name)),
  );
}

function isSameName(one: string, other: string): boolean {
  return one.length === other.length && one.toLowerCase() === other.toLowerCase();
}

function headersWithout(event: H3Event, isSecret: (name: string) => boolean): StoredHeader[] {
  const { rawHeaders } = nodeRequest(event);
  const stored: StoredHeader[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    stored.push([name, isSecret(name) ? null : (rawHeaders[index + 1] as string)]);
  }
  return stored;
}
