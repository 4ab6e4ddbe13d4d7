import type { Tx } from "../../db/database.ts";
import type { Reading } from "../../sources/happened.ts";
import type { Delivery } from "../deliveries/store.ts";
import type { Result } from "../filter/slice.ts";
import { listBodies } from "../payloads/store.ts";
import type { Trigger } from "../store.ts";
import { readHostEvent } from "./host-event.ts";
import { inOrderOfProviders } from "./order.ts";
import type { HostReport } from "./plan.ts";
import { isShort } from "./short.ts";

/** All events that a transaction reads have so many bytes at most. To inflate and parse them takes 10 ms. */
const maxBytes = 512 * 1024;

/** The reports of waiting deliveries of providers. */
interface Reports {
  /** The deliveries to decide. Those without a report are too long to be read here. */
  deliveries: Delivery[];
  reports: HostReport[];
  /** Deliveries that wait for an earlier one, which others have. */
  held: string[];
  /** Deliveries that wait for the next transaction: this one has read enough, or an earlier one goes to a thread. */
  later: string[];
}

/**
 * Reads short events, of each organization as many bytes. Those that were read on the threads have results.
 * @param deliveries waiting deliveries of providers, locked
 */
export async function readReports(
  tx: Tx,
  deliveries: Delivery[],
  options: { triggerOf: ReadonlyMap<string, Trigger>; results: ReadonlyMap<string, Result>; now: Date },
): Promise<Reports> {
  if (deliveries.length === 0) return { deliveries, reports: [], held: [], later: [] };
  const { triggerOf, results, now } = options;
  const readings = new Map<string, Reading>();
  for (const [id, result] of results) if ("reading" in result) readings.set(id, result.reading);
  const inOrder = await inOrderOfProviders(tx, deliveries, { isFiltered: false, now });
  const unread = inOrder.filter((delivery) => isShort(delivery) && !readings.has(delivery.id));
  for (const [id, reading] of await readShort(tx, firstOfEach(unread), triggerOf)) readings.set(id, reading);

  const going: Delivery[] = [];
  const reports: HostReport[] = [];
  const later: string[] = [];
  const holding = new Set<string>();
  for (const delivery of inOrder) {
    const { id, triggerId } = delivery;
    const trigger = triggerOf.get(triggerId);
    const reading = readings.get(id);
    if (holding.has(triggerId) || (!reading && isShort(delivery))) later.push(id);
    else going.push(delivery);
    if (!reading) holding.add(triggerId);
    else if (trigger && !holding.has(triggerId)) reports.push({ deliveryId: id, trigger, reading });
  }
  const areFree = new Set(inOrder);
  const held = deliveries.flatMap((delivery) => (areFree.has(delivery) ? [] : delivery.id));
  return { deliveries: going, reports, held, later };
}

/** The first deliveries of each organization, within its part of the bytes. */
function firstOfEach(deliveries: Delivery[]): Delivery[] {
  const byOwner = [...Map.groupBy(deliveries, ({ organizationId }) => organizationId).values()];
  const part = maxBytes / byOwner.length;
  return byOwner.flatMap((own) => {
    let bytes = 0;
    return own.filter(({ size }, index) => {
      bytes += size;
      return index === 0 || bytes <= part;
    });
  });
}

async function readShort(
  tx: Tx,
  deliveries: Delivery[],
  triggerOf: ReadonlyMap<string, Trigger>,
): Promise<Map<string, Reading>> {
  if (deliveries.length === 0) return new Map();
  const rows = await listBodies(tx, { deliveryIds: deliveries.map(({ id }) => id) });
  const bodies = new Map(rows.map(({ deliveryId, ...body }) => [deliveryId, body]));
  return new Map(
    deliveries.map(({ id, triggerId, event, size }): [string, Reading] => {
      const body = bodies.get(id);
      if (!body) return [id, { problem: "The payload is gone" }]; // evicted, so decided: it is not used
      const triggerType = triggerOf.get(triggerId)?.type ?? "";
      return [id, readHostEvent({ ...body, size }, { triggerType, name: event ?? "" })];
    }),
  );
}
