import type { H3Event } from "h3";
import { DeliveryRefusal } from "../../shared/triggers/deliveries/refusals.ts";
import type { StoredHeader } from "../../shared/vocabulary.ts";
import { nodeRequest } from "../http/node.ts";

const maxIdempotencyKeyLength = 255;
const maxExternalIdLength = 255;
/** Headers whose values are credentials, whoever sends them: never stored. */
const secretHeader = /authorization|cookie|signature|token|secret|password|api-?key/i;

/** application/json in UTF-8, uncompressed. @throws DeliveryRefusal 415 */
export function requireJson(headers: Headers): string {
  const contentType = headers.get("content-type") ?? "";
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  if (/^(application\/x-www-form-urlencoded|multipart\/form-data)$/.test(type)) {
    throw new DeliveryRefusal("form_content_type");
  }
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length);
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (type !== "application/json" || !isUtf8) throw new DeliveryRefusal("wrong_content_type");

  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity")
    throw new DeliveryRefusal("wrong_encoding");
  return contentType;
}

/** @throws DeliveryRefusal 400 for a key that is too long */
export function readIdempotencyKey(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key !== null && key.length > maxIdempotencyKeyLength) throw new DeliveryRefusal("long_idempotency_key");
  return key || undefined;
}

/** The sender's own id of the delivery, if its type of sender gives one. */
export function readExternalId(headers: Headers, name: string | undefined): string | null {
  return (name && headers.get(name)?.slice(0, maxExternalIdLength)) || null;
}

/** All headers as they came, in order, without the values of secrets. */
export function storedHeaders(event: H3Event): StoredHeader[] {
  const { rawHeaders } = nodeRequest(event);
  const stored: StoredHeader[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    stored.push([name, secretHeader.test(name) ? null : (rawHeaders[at + 1] as string)]);
  }
  return stored;
}
