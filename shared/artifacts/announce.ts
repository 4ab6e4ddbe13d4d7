import { requireRoomForArtifacts } from "../accounts/storage.ts";
import { type Attempt, changeWhileLeased } from "../agents/lease.ts";
import type { LeaseBatches } from "../agents/lease-batches.ts";
import type { Tx } from "../db/database.ts";
import { minuteMs, secondMs } from "../durations.ts";
import { newId } from "../ids.ts";
import { exactSize, Refusal, tooMany } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import type { Config } from "../settings/config.ts";
import { settings } from "../settings/settings.ts";
import { stored } from "../sharing/bounds.ts";
import { countAnnounced, lockArtifactBytes } from "./counting.ts";
import { type Artifact, insertArtifacts, listBatch, measureArtifacts } from "./store.ts";

// An artifact is a file that a job left.
//
// | State    | What happens                                         | Then     |
// |----------|------------------------------------------------------|----------|
// | –        | its agent announces it                               | new      |
// | new      | its bytes come, and are as announced: `stored_at`     | new      |
// | new      | its agent says so; the bytes are here, or elsewhere   | finished |
// | new      | its agent gives it up, or a day passes               | error    |
// | finished | a person deletes it                                  | deleted  |
// | finished | it is too old, or its organization stores too much   | expired  |

const max = stored.artifacts.max;
/** Workers evict what is over the limit each minute. Until then an organization may have this many times as much. */
const maxTimesLimit = 2;

const tooManyOfBuild =
  "The build would have more than 10,000 artifacts, or paths of more than 8 MB: upload fewer files, such as an archive";

/** A file as its agent describes it. */
export type AnnouncedArtifact = Pick<
  Artifact,
  "path" | "absolutePath" | "globPath" | "size" | "sha1" | "sha256" | "contentType" | "url"
>;

export interface AnnouncedBatch {
  /** The agent's own id. It sends the same id again after a lost answer. */
  id: string;
  /** The agent uploads there by itself. Null: here. */
  uploadDestination: string | null;
  artifacts: AnnouncedArtifact[];
}

/**
 * Stores artifacts that are to be uploaded. The same batch again changes nothing.
 * @returns them in their order
 * @throws Refusal 403, 422, 429, 404 of a stale lease
 */
export function announceArtifacts(
  { config }: Services,
  leases: LeaseBatches,
  attempt: Attempt,
  batch: AnnouncedBatch,
): Promise<Artifact[]> {
  return changeWhileLeased(leases, attempt, async (tx, build) => {
    const { jobId } = attempt.lease;
    const present = await listBatch(tx, { jobId, batchId: batch.id });
    if (present.length > 0) return requireSame(present, batch);

    const { organizationId } = build;
    const isHere = batch.uploadDestination === null;
    const bytes = batch.artifacts.reduce((sum, { size }) => sum + size, 0);
    if (isHere) await requireRoomForArtifacts(tx, config, { organizationId, bytes });
    const others = await measureArtifacts(tx, build.id);
    const isOverNumber = others.artifacts + batch.artifacts.length > max.artifacts;
    if (isOverNumber || others.bytes + textBytes(batch) > max.bytes) throw new Refusal(422, tooManyOfBuild);
    if (isHere) await countIfRoom(tx, config, { organizationId, bytes });
    const rows = batch.artifacts.map(
      (artifact, position): Artifact => ({
        ...artifact,
        id: newId(tx.now),
        organizationId,
        buildId: build.id,
        jobId,
        batchId: batch.id,
        position,
        uploadDestination: batch.uploadDestination,
        state: "new",
        uploadId: null,
        createdAt: tx.now,
        storedAt: null,
        finishedAt: null,
        isCounted: isHere,
      }),
    );
    await insertArtifacts(tx, rows);
    return rows;
  });
}

/**
 * Bytes that are announced take room, so that none come for which there is no room.
 * @throws Refusal 429
 */
async function countIfRoom(
  tx: Tx,
  { artifactBytesPerOrganization: limit }: Config,
  { organizationId, bytes }: { organizationId: string; bytes: number },
): Promise<void> {
  const present = await lockArtifactBytes(tx, organizationId);
  if (present + bytes > maxTimesLimit * limit)
    throw tooMany(
      `The organization's artifacts, with those that are being uploaded, would be ${maxTimesLimit} times as large as the ${exactSize(limit)} of ${settings.artifactBytesPerOrganization.name}: wait a minute, in which the oldest expire`,
      { seconds: minuteMs / secondMs },
    );
  await countAnnounced(tx, organizationId, bytes);
}

/** @throws Refusal 422 */
function requireSame(present: Artifact[], { artifacts }: AnnouncedBatch): Artifact[] {
  const isSame =
    present.length === artifacts.length &&
    present.every(
      ({ path, size }, index) => path === artifacts[index]?.path && size === artifacts[index]?.size,
    );
  if (!isSame) throw new Refusal(422, "Another batch of artifacts has this id");
  return present;
}

function textBytes({ uploadDestination, artifacts }: AnnouncedBatch): number {
  const texts = artifacts.flatMap(({ path, absolutePath, globPath, url }) => [
    ...[path, absolutePath, globPath, url, uploadDestination],
  ]);
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
}
