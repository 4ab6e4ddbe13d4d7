import type { Reading } from "../../sources/happened.ts";
import { readEvent } from "../../sources/providers.ts";
import { decodeBodySync, type EncodedBody } from "../payloads/codec.ts";

export interface HostEvent {
  /** The type of its trigger, as stored. */
  triggerType: string;
  /** As its header names it. */
  name: string;
}

/** Reads the payload of an event. Never throws. Blocks: 8 KB take 0.1 ms, and megabytes up to a second. */
export function readHostEvent(payload: EncodedBody, { triggerType, name }: HostEvent): Reading {
  let body: unknown;
  try {
    body = JSON.parse(decodeBodySync(payload).toString("utf8"));
  } catch {
    return { problem: "The body is no JSON" };
  }
  return readEvent(triggerType, name, body);
}
