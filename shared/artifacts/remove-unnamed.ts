import { artifactIdOf, type Blobs } from "../blobs/blobs.ts";
import { markOwner } from "../blobs/owner.ts";
import { findSharedValue, putSharedValue } from "../db/shared-values-store.ts";
import { hourMs } from "../durations.ts";
import type { Services } from "../services/services.ts";
import type { ArtifactState } from "../vocabulary.ts";
import { findIdsInStates } from "./unnamed-store.ts";

/** An upload is stored before its row says so. */
const minAgeMs = hourMs;
/** A run looks at so many pages of a thousand names: a million. The next run goes on after the last one. */
const maxPages = 1000;
const checkedUpToName = "blobs_checked_up_to";
/** States of artifacts whose bytes are stored or may still come. No artifact enters them from another state. */
const namingStates: ArtifactState[] = ["new", "finished"];

type Needed = Pick<Services, "blobs" | "clock" | "db" | "log">;

/**
 * Removes blobs that no artifact names, an hour after they were stored, and the leftovers of uploads that never ended.
 * Leaves alone what has another name than artifacts have: somebody put it there. Does nothing to the store of another
 * installation, whose artifacts this database does not know.
 * @returns the number of blobs removed
 */
export async function removeUnnamedBlobs(services: Needed): Promise<number> {
  const { blobs, clock, db } = services;
  if (!(await isOurs(services))) return 0;
  await blobs.discardUnfinished({
    now: clock.now(),
    findAwaited: (names) => findNamed(services, names, ["new"]),
  });

  let removed = 0;
  let after = (await findSharedValue(db, checkedUpToName)) || undefined;
  for (let page = 0; page < maxPages; page++) {
    const { names, next } = await blobs.list({ after });
    removed += await removeUnnamed(services, names);
    after = next;
    if (after === undefined) break;
  }
  await db.transaction((tx) => putSharedValue(tx, checkedUpToName, after ?? ""));
  return removed;
}

async function isOurs({ blobs, db, log }: Needed): Promise<boolean> {
  const installation = await findSharedValue(db, "installation");
  if (installation === undefined) return false;
  const owner = await markOwner(blobs, installation);
  if (owner !== installation)
    log.error({ store: blobs.place, owner }, "BLOB_URL names the store of another installation");
  return owner === installation;
}

async function removeUnnamed(services: Needed, names: string[]): Promise<number> {
  const named = await findNamed(services, names, namingStates);
  const unnamed = names.filter((name) => artifactIdOf(name) !== undefined && !named.has(name));
  const before = services.clock.now().getTime() - minAgeMs;
  const old: string[] = [];
  for (const name of unnamed) if (await isOlder(services.blobs, name, before)) old.push(name);
  await services.blobs.delete(old);
  return old.length;
}

async function isOlder(blobs: Blobs, name: string, before: number): Promise<boolean> {
  const found = await blobs.find(name);
  return found !== undefined && found.storedAt.getTime() < before;
}

async function findNamed({ db }: Needed, names: string[], states: ArtifactState[]): Promise<Set<string>> {
  const ids = names.map(artifactIdOf).filter((id) => id !== undefined);
  const found = await findIdsInStates(db, ids, states);
  return new Set(names.filter((name) => found.has(artifactIdOf(name) ?? "")));
}
