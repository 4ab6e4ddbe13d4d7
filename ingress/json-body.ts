import type { H3Event } from "h3";
import type { z } from "zod";
import { Refusal } from "../shared/refusal.ts";
import type { Bodies } from "./body.ts";

const mostBytes = 1024 * 1024;
const jsonType = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/**
 * The JSON object that a program sent, as the schema has it.
 * @throws Refusal 415, 413, 400, 422
 */
export async function readJsonBody<T>(event: H3Event, bodies: Bodies, schema: z.ZodType<T>): Promise<T> {
  const contentType = event.req.headers.get("content-type");
  if (contentType !== null && !jsonType.test(contentType)) {
    throw new Refusal(415, "Content-Type must be application/json");
  }
  using held = await bodies.read(event, mostBytes, () => new Refusal(413, "Body is larger than 1 MB"));
  const parsed = schema.safeParse(parseObject(held.bytes));
  if (parsed.success) return parsed.data;
  const reasons = parsed.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`);
  throw new Refusal(422, reasons.join(", "));
}

function parseObject(bytes: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new Refusal(400, "Body is not valid JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Refusal(400, "Body must be a JSON object");
  }
  return value;
}
