// A member asks for a bulk rebuild, and workers run it (run.ts).
//
//   finishedAt   canceledAt   state
//   null         null         running
//   set          null         finished
//   set          set          canceled: by a member, or because the trigger, its pipeline or the member is gone

import type { Actor } from "../../accounts/audit.ts";
import { lockOrganization } from "../../accounts/organization-store.ts";
import { requireStorage } from "../../accounts/storage.ts";
import type { Tx } from "../../db/database.ts";
import { isId } from "../../ids.ts";
import { notFound, Refusal, validationFailed } from "../../refusal.ts";
import { afterDays, expiring } from "../../retention/expiring.ts";
import type { Services } from "../../services/services.ts";
import { stored } from "../../sharing/bounds.ts";
import { later } from "../../tasks/store.ts";
import type { BulkRebuildFilter } from "../../vocabulary.ts";
import { findReplayedDelivery, keysOf } from "../deliveries/accept.ts";
import type { DeliverySearch } from "../deliveries/list.ts";
import { countMatches, type DeliveryFilter } from "../deliveries/store.ts";
import { lockTrigger, type Trigger } from "../store.ts";
import { auditTrigger } from "../triggers.ts";
import {
  type BulkRebuild,
  cancelIfRunning,
  deleteFinishedBefore,
  findBulkRebuild,
  insertIfFree,
  listRunningOfOrganization,
} from "./store.ts";

const maxDeliveries = 10_000;
const { "triggers with a bulk rebuild": maxRunningOfOrganization } = stored.bulkRebuilds.max;

export function stateOf({ canceledAt, finishedAt }: BulkRebuild): "running" | "finished" | "canceled" {
  if (canceledAt) return "canceled";
  return finishedAt ? "finished" : "running";
}

/** The stored filter, for the list of deliveries. */
export function filterOf({
  sentAs,
  id,
  receivedFrom,
  receivedTo,
  ...rest
}: BulkRebuildFilter): DeliveryFilter {
  return {
    ...rest,
    ...(id === undefined ? { externalId: sentAs } : { id }),
    receivedFrom: receivedFrom === undefined ? undefined : new Date(receivedFrom),
    receivedTo: receivedTo === undefined ? undefined : new Date(receivedTo),
  };
}

const statuses = ["build_created", "not_run", "failed"] as const;

/** Counts the deliveries of each status that can be built again. */
export async function countByStatus(services: Services, trigger: Trigger, search: DeliverySearch) {
  const filter = filterOf(await storedFilter(services, trigger, search));
  return Promise.all(
    statuses.map(async (status) => {
      const matching = { ...filter, status };
      return { status, ...(await countMatches(services.db, trigger.id, matching, { max: maxDeliveries })) };
    }),
  );
}

/**
 * Counts the deliveries that would be built.
 * @param last leaves out those after this one
 * @throws Refusal 422 if there are none, or too many
 */
export async function countForRebuild(
  services: Services,
  trigger: Trigger,
  search: DeliverySearch,
  last?: string,
) {
  const filter = await storedFilter(services, trigger, search);
  const { total, lastId, isCut } = await countMatches(services.db, trigger.id, filterOf(filter), {
    max: maxDeliveries,
    last,
  });
  if (isCut) {
    const reason =
      total > maxDeliveries
        ? "More than 10,000 deliveries match. At most 10,000 can be built again at once"
        : "There are too many deliveries to look through";
    throw new Refusal(422, `${reason}: add an earliest and a latest time`);
  }
  if (total === 0 || lastId === undefined) throw new Refusal(422, "No delivery matches");
  return { filter, total, lastId, refusedByFilter: search.status === "not_run" ? total : 0 };
}

async function storedFilter(
  services: Services,
  trigger: Trigger,
  { status, event, sentAs, receivedFrom, receivedTo }: DeliverySearch,
): Promise<BulkRebuildFilter> {
  if (status === "waiting")
    throw new Refusal(422, "Deliveries in process cannot be built again. Wait until they are decided");
  const id =
    sentAs === undefined
      ? undefined
      : await findReplayedDelivery(services, trigger.id, keysOf(sentAs, undefined));
  return {
    ...(status && { status }),
    ...(event !== undefined && { event }),
    ...(sentAs !== undefined && { sentAs }),
    ...(id !== undefined && { id }),
    ...(receivedFrom && { receivedFrom: receivedFrom.toISOString() }),
    ...(receivedTo && { receivedTo: receivedTo.toISOString() }),
  };
}

interface Confirmed {
  lastId?: string;
  total: number;
}

function notThisNumber(total: number) {
  const number = total.toLocaleString("en");
  return { field: "total", message: `The number of deliveries is ${number}: type it to confirm` };
}

/**
 * A repeated call with the same id returns the existing one.
 * @param confirmed what a person was shown: the deliveries up to `lastId`, and their number. Absent: all that match now
 * @throws Refusal 404, 422
 */
export async function askForBulkRebuild(
  services: Services,
  actor: Actor,
  trigger: Trigger,
  { id, search, confirmed }: { id: string; search: DeliverySearch; confirmed?: Confirmed },
): Promise<BulkRebuild> {
  const { config, db, events } = services;
  const present = await findBulkRebuild(db, trigger.id, id);
  if (present) return present;
  const { filter, total, lastId } = await countForRebuild(services, trigger, search, confirmed?.lastId);
  if (confirmed && confirmed.total !== total) throw validationFailed(notThisNumber(total));
  const created = await db.transaction(async (tx) => {
    await lockOrganization(tx, actor.organization.id);
    const same = await findBulkRebuild(tx, trigger.id, id);
    if (same) return same;
    if (!(await lockTrigger(tx, trigger.pipelineId, trigger.id))) throw notFound("pipeline trigger");
    await requireRoom(tx, actor, trigger);
    await requireStorage(tx, config, actor.organization.id);
    const made = await insertIfFree(tx, {
      id,
      organizationId: actor.organization.id,
      triggerId: trigger.id,
      filter,
      createdAt: tx.now,
      createdById: actor.userId,
      total,
      lastDeliveryId: lastId,
      position: null,
      built: 0,
      skipped: 0,
      failed: 0,
      canceledAt: null,
      finishedAt: null,
    });
    if (!made) throw notFound("bulk rebuild");
    await later(tx, "bulk_rebuild", actor.organization.id, [id]);
    await auditTrigger(tx, actor, trigger, "asked to rebuild deliveries of");
    return made;
  });
  events.publish([`trigger:${trigger.id}`]);
  return created;
}

async function requireRoom(tx: Tx, { organization }: Actor, trigger: Trigger): Promise<void> {
  const running = await listRunningOfOrganization(tx, organization.id);
  if (running.some(({ triggerId }) => triggerId === trigger.id))
    throw new Refusal(
      422,
      "Deliveries of this trigger are being built again already. Wait until that has finished, or cancel it",
    );
  if (running.length >= maxRunningOfOrganization)
    throw new Refusal(
      422,
      `Deliveries of ${maxRunningOfOrganization} triggers of the organization are being built again. Wait until one has finished`,
    );
}

/** @throws Refusal 404 */
export async function requireBulkRebuild(
  { db }: Services,
  trigger: Trigger,
  id: string,
): Promise<BulkRebuild> {
  const found = isId(id) ? await findBulkRebuild(db, trigger.id, id) : undefined;
  if (!found) throw notFound("bulk rebuild");
  return found;
}

/** Keeps the builds that were made. Does nothing once it has finished, and returns undefined. */
export async function cancelBulkRebuild(
  { db, events }: Services,
  actor: Actor,
  trigger: Trigger,
  { id }: BulkRebuild,
): Promise<BulkRebuild | undefined> {
  const canceled = await db.transaction(async (tx) => {
    const changed = await cancelIfRunning(tx, id, tx.now);
    if (changed) await auditTrigger(tx, actor, trigger, "canceled the rebuild of deliveries of");
    return changed;
  });
  events.publish([`trigger:${trigger.id}`]);
  return canceled;
}

export const oldBulkRebuilds = expiring(
  "bulkRebuilds",
  afterDays("deliveryRetentionDays"),
  deleteFinishedBefore,
);
