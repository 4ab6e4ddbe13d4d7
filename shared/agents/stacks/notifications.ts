import { changeInBatches } from "../../db/batches.ts";
import type { Tx } from "../../db/database.ts";
import { minuteMs, secondMs } from "../../durations.ts";
import { lowerCaseId, newIds } from "../../ids.ts";
import type { Topic } from "../../redis/events.ts";
import type { Services } from "../../services/services.ts";
import { stored } from "../../sharing/bounds.ts";
import { writes } from "../../sharing/resources.ts";
import { unfinishedJobStates } from "../../vocabulary.ts";
import { lockJobs } from "../logs/store.ts";
import type { Registrar } from "../tokens.ts";
import {
  countNotifications,
  deleteNotificationsOf,
  insertNotifications,
  type StackNotification,
} from "./notification-store.ts";
import { listJobsOf } from "./reserve.ts";

export const { notifications: maxNotifications, characters: maxDetailCharacters } = stored.notifications.max;
/** Of a job that has ended, they are taken for so long. */
const takenAfterEndMs = 300 * secondMs;
/** The clock of a stack may be ahead of ours. */
const maxAheadMs = minuteMs;
const jobsPerTransaction = 100;
/** A time without an offset, which is of UTC, whatever the time zone of this machine. */
const timeWithoutOffset = /^\d{4}-\d\d-\d\d[T ][\d:.]+$/;

export interface NewNotification {
  /** As it was given. */
  jobId: unknown;
  detail: unknown;
  timestamp: unknown;
}

interface Sound {
  index: number;
  jobId: string;
  detail: string;
  at: Date | undefined;
}

interface Refused {
  index: number;
  error: string;
}

/** By the reason: the places of notifications that were not stored. */
export type NotificationErrors = Map<string, number[]>;

/** Stores what a stack says about jobs. Each that is wrong is left out, and the others are kept. */
export async function notifyAboutJobs(
  services: Services,
  registrar: Registrar,
  given: NewNotification[],
  signal: AbortSignal,
): Promise<NotificationErrors> {
  const refused: Refused[] = [];
  const sound = given.flatMap((each, index): Sound[] => {
    const read = readNotification(each);
    if (typeof read !== "string") return [{ index, ...read }];
    refused.push({ index, error: read });
    return [];
  });
  const known = new Set(
    (await listJobsOf(services, registrar, [...new Set(sound.map(({ jobId }) => jobId))])).map(
      ({ id }) => id,
    ),
  );
  const byJob = Map.groupBy(sound, ({ jobId }) => jobId);
  for (const [jobId, notifications] of byJob)
    if (!known.has(jobId))
      refused.push(...notifications.map(({ index }) => ({ index, error: "job not found" })));
  const ids = [...byJob.keys()].filter((id) => known.has(id));
  const { id: organizationId } = registrar.organization;
  for (let start = 0; start < ids.length; start += jobsPerTransaction) {
    const jobIds = ids.slice(start, start + jobsPerTransaction);
    const store = () => services.db.transaction((tx) => storeIn(tx, jobIds, byJob));
    refused.push(...(await writes.take(organizationId, store, signal)));
    services.events.publish(jobIds.map((id): Topic => `job:${id}`));
  }
  const errors: NotificationErrors = new Map();
  for (const [error, all] of Map.groupBy(refused, (each) => each.error))
    errors.set(
      error,
      all.map(({ index }) => index).sort((one, other) => one - other),
    );
  return errors;
}

/** @returns the error of one that is wrong */
function readNotification({ jobId, detail, timestamp }: NewNotification): Omit<Sound, "index"> | string {
  if (typeof jobId !== "string" || jobId === "") return "job_uuid is required";
  if (typeof detail !== "string" || detail.trim() === "") return "detail is required";
  if ([...detail].length > maxDetailCharacters)
    return `detail is too long (maximum is ${maxDetailCharacters} characters)`;
  const text = timestamp === undefined || timestamp === null ? undefined : String(timestamp);
  const at = text === undefined ? undefined : new Date(timeWithoutOffset.test(text) ? `${text}Z` : text);
  if (at && !Number.isFinite(at.getTime())) return "timestamp is invalid";
  return { jobId: lowerCaseId(jobId), detail, at };
}

/** @returns the notifications that were not stored */
async function storeIn(tx: Tx, jobIds: string[], byJob: ReadonlyMap<string, Sound[]>): Promise<Refused[]> {
  const jobs = await lockJobs(tx, { ids: jobIds });
  const counts = new Map(
    (await countNotifications(tx, { jobIds })).map(({ jobId, total }) => [jobId, total]),
  );
  const now = tx.now.getTime();
  const rows: Omit<StackNotification, "id">[] = [];
  const refused: Refused[] = [];
  for (const { id: jobId, createdAt, finishedAt, state } of jobs) {
    const isOver =
      !unfinishedJobStates.includes(state) &&
      finishedAt !== null &&
      finishedAt.getTime() + takenAfterEndMs < now;
    let count = counts.get(jobId) ?? 0;
    for (const { index, detail, at = tx.now } of byJob.get(jobId) ?? []) {
      const refuse = (error: string) => refused.push({ index, error });
      if (isOver) refuse("job finished too long ago");
      else if (at.getTime() > now + maxAheadMs) refuse("timestamp cannot be in the future");
      else if (at < createdAt) refuse("timestamp cannot be before the job was created");
      else if (count >= maxNotifications) refuse("job stack notification count exceeded");
      else {
        rows.push({ jobId, detail, notifiedAt: at.getTime() > now ? tx.now : at });
        count++;
      }
    }
  }
  const ids = newIds(tx.now, rows.length);
  await insertNotifications(
    tx,
    rows.map((row, index) => ({ ...row, id: ids[index] as string })),
  );
  return refused;
}

/** Deletes the notifications about builds that are about to be purged: a cascade would delete all at once. */
export async function purgeNotificationsOfBuilds(
  { db }: Pick<Services, "db">,
  buildIds: string[],
): Promise<void> {
  await changeInBatches(db, (tx, limit) => deleteNotificationsOf(tx, buildIds, limit));
}
