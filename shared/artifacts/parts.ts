import {
  artifactBlob,
  BlobsUnavailable,
  type DirectTransfers,
  type DirectUpload,
  type UploadedPart,
} from "../blobs/blobs.ts";
import { unavailable } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { openOrder } from "../sharing/in-order.ts";
import { later } from "../tasks/store.ts";
import { type Artifact, findArtifact, setUploadIfOpen } from "./store.ts";

// An agent puts the parts of a large file into the bucket by itself. No process of ours has seen the bytes, so a worker
// compares them with what was announced. Only then is the artifact stored.

/** A bucket wants parts of 5 MB, and a form costs fewer calls. */
const minBytes = 5 * 1024 ** 2;
/** Each signs an address in a turn of the event loop. A batch may ask for thousands. */
const beginsAtOnce = 8;
/** One batch of an organization at a time. A bucket that stalls holds up nothing else. */
const inOrder = openOrder();

/**
 * Begins the uploads of artifacts that are better sent in parts. A repeated batch gets new addresses.
 * @returns parts by the id of their artifact
 * @throws Refusal 503
 */
export async function beginParts(
  services: Services,
  artifacts: Artifact[],
): Promise<Map<string, DirectUpload["parts"]>> {
  const { direct } = services.blobs;
  if (!direct) return new Map();
  const large = artifacts.filter(
    ({ size, state, storedAt }) => size >= minBytes && state === "new" && storedAt === null,
  );
  const [first] = large;
  if (!first) return new Map();
  const begun = await inOrder(first.organizationId, () =>
    orUnavailable(services, () => beginAll(direct, large)),
  );
  await services.db.transaction(async (tx) => {
    for (const { id, uploadId } of begun) await setUploadIfOpen(tx, id, uploadId);
  });
  return new Map(begun.map(({ id, parts }) => [id, parts]));
}

async function beginAll(direct: DirectTransfers, artifacts: Artifact[]) {
  const begun: (DirectUpload & { id: string })[] = [];
  for (let at = 0; at < artifacts.length; at += beginsAtOnce) {
    const some = artifacts.slice(at, at + beginsAtOnce).map(async ({ id, size, uploadId }) => {
      if (uploadId !== null) await direct.abortUpload(artifactBlob(id), uploadId);
      return { id, ...(await direct.beginUpload(artifactBlob(id), size)) };
    });
    begun.push(...(await Promise.all(some)));
  }
  return begun;
}

/**
 * Joins the parts to one file, and has a worker compare it. Does nothing with an artifact that has no parts, or is
 * stored.
 * @returns false if the host of the bytes does not have these parts
 * @throws Refusal 503
 */
export async function completeParts(
  services: Services,
  artifact: Artifact,
  parts: UploadedPart[],
): Promise<boolean> {
  const { id, organizationId, uploadId, state, storedAt } = artifact;
  const { direct } = services.blobs;
  if (!direct || uploadId === null || state !== "new" || storedAt !== null) return true;
  const outcome = await orUnavailable(services, () =>
    direct.completeUpload(artifactBlob(id), uploadId, parts),
  );
  if (outcome === "refused") return false;
  await services.db.transaction((tx) => later(tx, "artifact", organizationId, [id]));
  return true;
}

/** The artifact once it was compared. Undefined: not yet. */
export async function findChecked({ db }: Services, id: string): Promise<Artifact | undefined> {
  const artifact = await findArtifact(db, id);
  return artifact?.state === "new" && artifact.storedAt === null ? undefined : artifact;
}

async function orUnavailable<Result>({ log }: Services, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BlobsUnavailable)) throw error;
    log.error({ err: error }, "the store of artifacts is unavailable");
    throw unavailable();
  }
}
