import { rememberRecent } from "../../sharing/recent.ts";
import type { Reading } from "../../sources/happened.ts";
import type { PayloadCodec, StoredHeader } from "../../vocabulary.ts";
import { type HostEvent, readHostEvent } from "../events/host-event.ts";
import { decodeBodySync, type EncodedBody } from "../payloads/codec.ts";
import { compileFilter, type FilterOutcome } from "./compile.ts";
import { parsePayload } from "./payload.ts";
import { readValues } from "./read-values.ts";

/** A delivery, and what to make of it: the verdict of a filter, or an event of a source host. */
export type ThreadInput = FilterInput | EventInput;

export interface FilterInput extends DeliveryInput {
  expression: string;
  /** A verdict comes with the values that were read. */
  explains?: boolean;
}

interface EventInput extends DeliveryInput {
  event: HostEvent;
}

export type EvaluationResult = FilterOutcome | { reading: Reading };

interface DeliveryInput {
  id: string;
  receivedAt: Date;
  headers: StoredHeader[];
  /** The payload as stored, and its size as received. */
  body: Uint8Array;
  codec: PayloadCodec;
  size: number;
}

export interface FilterBatch {
  inputs: ThreadInput[];
  /** The number of inputs that are evaluated, shared with the caller: it says which one was late. */
  evaluated: Int32Array<SharedArrayBuffer>;
  /** CPU time after which no further input is evaluated, so that others may use the thread. */
  maxMs: number;
}

const compiled = rememberRecent<ReturnType<typeof compileFilter>>(500);

/** Evaluates the first inputs, at least one. Runs in a thread. */
export function evaluateFirst({ inputs, evaluated, maxMs }: FilterBatch): EvaluationResult[] {
  const outcomes: EvaluationResult[] = [];
  const before = process.threadCpuUsage();
  for (const input of inputs) {
    outcomes.push(
      "event" in input ? { reading: readHostEvent(toEncoded(input), input.event) } : evaluateFilter(input),
    );
    evaluated[0] = outcomes.length;
    const { user, system } = process.threadCpuUsage(before);
    if ((user + system) / 1000 > maxMs) break;
  }
  return outcomes;
}

/** Never throws. May take long: see evaluator.ts. */
export function evaluateFilter(input: FilterInput): FilterOutcome {
  const { expression, explains, id, receivedAt, headers } = input;
  const compilation = compileOnce(expression);
  if ("problem" in compilation) return { error: compilation.problem };

  try {
    const payload = parsePayload(decodeBodySync(toEncoded(input)).toString("utf8"));
    const createdAt = receivedAt.toISOString();
    const webhook = { id, created_at: createdAt, payload, headers: headersByKey(headers) };
    const outcome = compilation.filter(webhook);
    if (!explains || "error" in outcome) return outcome;
    return { ...outcome, values: readValues(compilation.members, webhook) };
  } catch {
    return { error: "The payload cannot be read" };
  }
}

function toEncoded({ body, codec, size }: DeliveryInput): EncodedBody {
  return { codec, bytes: Buffer.from(body.buffer, body.byteOffset, body.length), size };
}

function compileOnce(expression: string): ReturnType<typeof compileFilter> {
  const known = compiled.get(expression);
  if (known) return known;
  const compilation = compileFilter(expression);
  compiled.set(expression, compilation);
  return compilation;
}

/** Joins repeated headers (RFC 9110 §5.3), leaves out secrets. */
function headersByKey(headers: StoredHeader[]): Map<string, string> {
  const byKey = new Map<string, string>();
  for (const [name, value] of headers) {
    if (value === null) continue;
    const key = `HTTP_${name.toUpperCase().replaceAll("-", "_")}`;
    const earlier = byKey.get(key);
    byKey.set(key, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return byKey;
}
