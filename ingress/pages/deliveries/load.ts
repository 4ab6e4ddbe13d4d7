import { type BuildOfDelivery, listLastBuildsOfDeliveries } from "../../../shared/builds/rows/build-store.ts";
import { secondMs } from "../../../shared/durations.ts";
import { requirePipeline } from "../../../shared/pipelines/pipelines.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { maxChanges, type Reading } from "../../../shared/sources/happened.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import {
  findOtherBranch,
  type OtherBranch,
  tryPresentSettings,
} from "../../../shared/triggers/events/left-out.ts";
import { describeReading, readDelivery } from "../../../shared/triggers/events/read.ts";
import { testFilter } from "../../../shared/triggers/filter/filter-tests.ts";
import { type ReadValue, valueInWords } from "../../../shared/triggers/filter/read-values.ts";
import { findPayloadStart } from "../../../shared/triggers/payloads/store.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { type LoadedDelivery, loadDelivery } from "../address/delivery.ts";
import { maxShownBytes } from "../builds/payload.tsx";
import type { MemberRequest } from "../ui/member-page.ts";
import { maxBuildsOfDelivery } from "./list.tsx";

/** A page waits for the threads so long, and evaluates filters on payloads of so many bytes. */
const maxWaitMs = secondMs;
const maxFilteredBytes = 128 * 1024;

/** @throws Refusal 404 */
export async function loadDeliveryDetails(services: Services, request: MemberRequest) {
  const { db } = services;
  const loaded = await loadDelivery(services, request);
  const builds = await listLastBuildsOfDeliveries(db, [loaded.delivery.id], maxBuildsOfDelivery);
  return {
    ...loaded,
    builds,
    payload: await findPayloadStart(db, loaded.delivery.id, maxShownBytes),
    ...(await loadEvent(services, { organizationId: request.organization.id, ...loaded, builds })),
  };
}

interface EventOfDelivery extends LoadedDelivery {
  organizationId: string;
  builds: BuildOfDelivery[];
}

const noteworthy: Delivery["reason"][] = [
  "event_not_understood",
  "other_repository",
  "branch_mismatch",
  "filter_mismatch",
];

/** Facts beside the reason why a delivery made no build. */
export interface EventNotes {
  note?: string | undefined;
  /** The branch that was left out, and the patterns. */
  other?: OtherBranch | undefined;
  /** The values that the filter read which left it out. */
  values?: ReadValue[] | undefined;
  /** The filter left it out, and the present settings would build it. */
  isBuiltNow?: boolean;
}

/** Reads the event of a provider anew, or evaluates the filter of a trigger, if there is something to say about it. */
async function loadEvent(services: Services, event: EventOfDelivery): Promise<EventNotes> {
  const { pipeline, trigger, delivery, builds, organizationId } = event;
  if (!trigger.isProvider && delivery.reason === "filter_mismatch") return tryFilterIfFree(services, event);
  const hasNote = noteworthy.includes(delivery.reason) || builds.length >= maxChanges;
  const reading = trigger.isProvider && hasNote ? await readIfFree(services, event) : undefined;
  if (!reading) return {};
  const note = describeReading(reading, delivery.reason);
  if ("problem" in reading) return { note };
  const { happened } = reading;
  if (delivery.reason === "branch_mismatch") return { note, other: findOtherBranch(happened, pipeline) };
  if (delivery.reason !== "filter_mismatch") return { note };
  const whole = await requirePipeline(services.db, organizationId, pipeline.slug);
  const report = { pipeline: whole, trigger, deliveryId: delivery.id, happened };
  const { reads, isBuilt } = await tryPresentSettings(services, report);
  const values = reads.map(([member, value]) => ({ member, value: valueInWords(value ?? undefined) }));
  return { note, values, isBuiltNow: isBuilt };
}

/** Says if the present filter of a trigger lets a delivery through; if not, by which values. */
async function tryFilterIfFree(
  services: Services,
  { organizationId, trigger, delivery }: EventOfDelivery,
): Promise<EventNotes> {
  const { filter: expression } = trigger;
  if (expression === null) return { isBuiltNow: true };
  if (delivery.size > maxFilteredBytes) return {};
  const test = { organizationId, trigger, expression, deliveryId: delivery.id, explains: true };
  const outcome = await ifFree((signal) => testFilter(services, test, signal));
  if (!outcome || "error" in outcome) return {};
  return outcome.verdict ? { isBuiltNow: true } : { values: outcome.values };
}

/** The event of a delivery. Pages can do without it. */
export async function readIfFree(
  services: Services,
  event: { organizationId: string; trigger: Trigger; delivery: Delivery },
): Promise<Reading | undefined> {
  return ifFree((signal) => readDelivery(services, event, signal));
}

/** Does not wait for long where the threads have much to do. */
async function ifFree<Result>(read: (signal: AbortSignal) => Promise<Result>): Promise<Result | undefined> {
  const signal = AbortSignal.timeout(maxWaitMs);
  try {
    return await read(signal);
  } catch (error) {
    if (!(error instanceof Refusal) && !signal.aborted) throw error;
    return undefined;
  }
}
