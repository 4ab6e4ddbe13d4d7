import type { H3Event } from "h3";
import { toJSONSchema, type z } from "zod";
import { freeBuffers } from "../../shared/process/own-buffers.ts";
import { exactSize, type Problem, Refusal, validationFailed } from "../../shared/refusal.ts";
import { openOrder } from "../../shared/sharing/in-order.ts";
import { longReads } from "../../shared/sharing/resources.ts";
import { describeInvalidJson, findPayloadProblem } from "../../shared/triggers/payloads/problem.ts";
import { toProblems } from "../../shared/validation.ts";
import type { Bodies } from "./body.ts";
import { hasUtf8Charset, mediaType } from "./content-type.ts";
import { asUtf8 } from "./report-body.ts";

const defaultMaxBytes = 1024 * 1024;
/** No body of ours nests deeper than a pipeline's steps. */
const maxDepth = 100;
/** Of 500 steps of a pipeline, each may have 40. To parse them blocks the event loop for 3 ms. */
export const maxJsonValues = 20_000;
/** Organizations take turns with larger bodies. */
const maxBytesAtOnce = 16 * 1024;
/** Several at once would take longer turns of the event loop, and no less time. */
const inOrder = openOrder();
const jsonType = /^application\/([\w.-]+\+)?json$/;

export interface JsonBody<T> {
  schema: z.ZodType<T>;
  /** Accepts an empty body and null as `{}`. */
  isOptional?: boolean;
  /** A report of what has happened: it may be empty, come in any encoding, and be no object, which counts as `{}`. */
  isReport?: boolean;
  /** Values of members that are absent or null, by their names. Undefined: none. */
  defaults?: Record<string, (organizationId: string) => Promise<unknown>>;
  /** Changes what was given before anything reads it. */
  prepare?: (given: Record<string, unknown>) => Record<string, unknown>;
  /** Reads what takes long, with pauses for other requests, before the schema does. */
  readAhead?: (given: Record<string, unknown>) => Promise<void>;
  /** Default: `Validation failed: …`. */
  refuse?: (...problems: Problem[]) => Refusal;
  /** Default: 1 MB. */
  maxBytes?: number;
  /** Default: 20,000. */
  maxValues?: number;
}

/**
 * Checks rules beyond the schema if others of the members break it, so that one answer has all problems. Gets the
 * members that match the schema, as sent.
 */
export type CheckMembers<Sound = Record<string, unknown>> = (sound: Sound) => Problem[] | Promise<Problem[]>;

export interface JsonRequest {
  event: H3Event;
  bodies: Bodies;
  organizationId: string;
}

/**
 * Reads a JSON object, whatever Content-Type names it: `curl -d` names JSON a form. A page of another site may send such
 * a body without asking (CORS), but no token: callers of operations send theirs in a header, and cookies mean nothing to
 * them. Organizations take turns with large bodies.
 * @throws Refusal 415, 413, 400, 422
 */
export async function readJson<T>(
  { event, bodies, organizationId }: JsonRequest,
  declared: JsonBody<T>,
  alsoCheck?: CheckMembers,
): Promise<T> {
  const { schema, isReport = false, isOptional = isReport } = declared;
  const { refuse = validationFailed, maxBytes = defaultMaxBytes, prepare = (given) => given } = declared;
  const contentType = event.req.headers.get("content-type");
  // JSON between systems is UTF-8 (RFC 8259 §8.1).
  if (!isReport && !hasUtf8Charset(contentType)) throw wrongType();
  const tooLarge = () => new Refusal(413, `Body is larger than ${exactSize(maxBytes)}`);
  using body = await bodies.read(event, maxBytes, tooLarge, { organization: organizationId });
  if (isReport && body.bytes.length <= maxBytesAtOnce)
    body.bytes = await asUtf8(body.bytes, contentType, maxBytesAtOnce);
  if (body.bytes.length === 0 && !isOptional) throw new Refusal(400, missingBody(schema));
  const isLarge = body.bytes.length > maxBytesAtOnce;
  const check = async () => {
    const reading = parseObject(body.bytes, contentType, declared);
    const sent = await reading.finally(() => isLarge && freeBuffers([body.bytes]));
    const complete = await withDefaults(sent, declared.defaults, organizationId);
    const given = prepare(complete as Record<string, unknown>);
    await declared.readAhead?.(given);
    return { given, parsed: schema.safeParse(given) };
  };
  const checkInTurn = () => longReads.take(organizationId, check, event.req.signal);
  const { given, parsed } = await (isLarge ? inOrder(organizationId, checkInTurn) : check());
  if (parsed.success) return parsed.data;
  const problems = toProblems(parsed.error);
  const others = (await alsoCheck?.(validMembers(schema, given, parsed.error))) ?? [];
  // The check was not given the members that have problems already, and may report them as missing.
  const isNew = ({ field }: Problem) => problems.every((each) => each.field !== field);
  throw refuse(...problems, ...others.filter(isNew));
}

async function withDefaults(
  given: object,
  defaults: JsonBody<unknown>["defaults"],
  organizationId: string,
): Promise<object> {
  if (!defaults) return given;
  const complete: Record<string, unknown> = { ...given };
  for (const [name, find] of Object.entries(defaults)) complete[name] ??= await find(organizationId);
  return complete;
}

/** Names the required members. */
function missingBody(schema: z.ZodType): string {
  const { required = [] } = inputOf(schema);
  const members = required.length > 0 ? required.join(", ") : "the members to change";
  return `Body is missing: it must be a JSON object with ${members}`;
}

/** Leaves out members that the schema does not name: nothing has checked their types. */
function validMembers(schema: z.ZodType, given: object, { issues }: z.ZodError): Record<string, unknown> {
  const unsound = new Set(issues.map(({ path }) => path[0]));
  const { properties = {} } = inputOf(schema);
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => Object.hasOwn(properties, name) && !unsound.has(name)),
  );
}

const inputs = new WeakMap<z.ZodType, ReturnType<typeof makeInput>>();

function inputOf(schema: z.ZodType) {
  const known = inputs.get(schema) ?? makeInput(schema);
  inputs.set(schema, known);
  return known;
}

/** Takes a millisecond. */
function makeInput(schema: z.ZodType) {
  return toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}

async function parseObject(
  bytes: Buffer,
  contentType: string | null,
  { isReport, isOptional = isReport, maxValues = maxJsonValues }: Omit<JsonBody<unknown>, "schema">,
): Promise<object> {
  if (isOptional && bytes.length === 0) return {};
  const value = await parse(bytes, contentType, maxValues);
  if (isOptional && value === null) return {};
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject && isReport) return {};
  if (!isObject) throw new Refusal(400, "Body must be a JSON object");
  return value;
}

/** Call before `JSON.parse`: it makes an object for each level, and blocks the event loop while it makes values. */
export function findJsonProblem(bytes: Uint8Array, maxValues = maxJsonValues) {
  return findPayloadProblem(bytes, maxDepth, maxValues);
}

async function parse(bytes: Buffer, contentType: string | null, maxValues: number): Promise<unknown> {
  const problem = await findJsonProblem(bytes, maxValues);
  if (problem === "too_deep") throw new Refusal(400, "Body is nested too deeply");
  if (problem === "too_many_values")
    throw new Refusal(
      400,
      `Body has more than ${maxValues.toLocaleString("en")} values, the most that a request may have`,
    );
  if (problem && contentType !== null && !jsonType.test(mediaType(contentType))) throw wrongType();
  if (problem) throw new Refusal(400, `Body ${describeInvalidJson(bytes)}`);
  return JSON.parse(bytes.toString("utf8"));
}

function wrongType(): Refusal {
  return new Refusal(415, "Content-Type must be application/json, and the body JSON in UTF-8");
}
