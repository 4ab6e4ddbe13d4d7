import { isUtf8 } from "node:buffer";
import type { H3Event } from "h3";
import type { z } from "zod";
import { type Problem, Refusal, validationFailed } from "../../shared/refusal.ts";
import { toProblems } from "../../shared/validation.ts";
import type { Bodies } from "./body.ts";

const maxBytes = 1024 * 1024;
const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

interface Expected<T> {
  schema: z.ZodType<T>;
  /** Whether nothing, or null, may be sent too: it counts as an object without members. */
  isOptional?: boolean;
  /** Makes the refusal of a body that does not match the schema. Default: `validationFailed`. */
  refuse?: (...problems: Problem[]) => Refusal;
}

/**
 * The JSON object that a program sent, as the schema has it.
 * @throws Refusal 415, 413, 400, 422
 */
export async function readJson<T>(
  event: H3Event,
  bodies: Bodies,
  { schema, isOptional = false, refuse = validationFailed }: Expected<T>,
): Promise<T> {
  const contentType = event.req.headers.get("content-type");
  if (contentType !== null && !isJson(contentType)) {
    throw new Refusal(415, "Content-Type must be application/json");
  }
  using held = await bodies.read(event, maxBytes, () => new Refusal(413, "Body is larger than 1 MB"));
  const parsed = schema.safeParse(parseObject(held.bytes, isOptional));
  if (parsed.success) return parsed.data;
  throw refuse(...toProblems(parsed.error));
}

/** JSON between systems is UTF-8 (RFC 8259 §8.1): another charset would be read as what it is not. */
function isJson(contentType: string): boolean {
  return jsonType.test(contentType) && /^utf-?8$/i.test(charset.exec(contentType)?.[1] ?? "utf-8");
}

function parseObject(bytes: Buffer, isOptional: boolean): unknown {
  if (isOptional && bytes.length === 0) return {};
  // Decoding would replace what is not UTF-8, and so store other text than was sent.
  if (!isUtf8(bytes)) throw new Refusal(400, "Body is not valid JSON");
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new Refusal(400, "Body is not valid JSON");
  }
  if (isOptional && value === null) return {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refusal(400, "Body must be a JSON object");
  }
  return value;
}
