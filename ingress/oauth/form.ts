import type { H3Event } from "h3";
import { OAuthRefusal } from "../../shared/oauth/refusals.ts";
import type { Bodies } from "../http/body.ts";
import { mediaType } from "../http/content-type.ts";

const maxBytes = 64 * 1024;
const bodyTooLarge = () => new OAuthRefusal("body_too_large");

/** Known parameters. None is empty. */
export type Form = Map<string, string>;

/**
 * Reads a form body, never the query string. Ignores empty and unknown parameters (RFC 6749 §3.2).
 * @throws OAuthRefusal invalid_request
 */
export async function readOAuthForm(event: H3Event, bodies: Bodies, known: string[]): Promise<Form> {
  if (mediaType(event.req.headers.get("content-type")) !== "application/x-www-form-urlencoded")
    throw new OAuthRefusal("not_a_form");
  using body = await bodies.read(event, maxBytes, bodyTooLarge);
  const form: Form = new Map();
  for (const [name, value] of new URLSearchParams(body.bytes.toString("utf8"))) {
    if (value === "" || !known.includes(name)) continue;
    if (form.has(name)) throw new OAuthRefusal("repeated_parameter");
    form.set(name, value);
  }
  return form;
}
