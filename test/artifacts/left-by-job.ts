import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Artifact } from "../../shared/artifacts/store.ts";
import { artifactBlob } from "../../shared/blobs/blobs.ts";
import { hourOf } from "../../shared/durations.ts";
import { newId } from "../../shared/ids.ts";
import { addToTotals } from "../../shared/retention/totals-store.ts";
import type { Services } from "../../shared/services/services.ts";

interface Job {
  id: string;
  buildId: string;
  organizationId: string;
}

/** Stores the row of a finished artifact, as its agent would have it. Its bytes are counted, and not in the store. */
export async function leaveArtifact(
  { db, clock }: Pick<Services, "db" | "clock">,
  job: Job,
  given: Partial<Artifact> = {},
): Promise<Artifact> {
  const createdAt = given.createdAt ?? clock.now();
  const id = newId(createdAt);
  const artifact: Artifact = {
    id,
    organizationId: job.organizationId,
    buildId: job.buildId,
    jobId: job.id,
    batchId: id,
    position: 0,
    path: "log/test.txt",
    absolutePath: "/build/log/test.txt",
    globPath: null,
    size: 4,
    sha1: createHash("sha1").update("text").digest("hex"),
    sha256: null,
    contentType: "text/plain",
    uploadDestination: null,
    url: null,
    state: "finished",
    uploadId: null,
    createdAt,
    storedAt: createdAt,
    finishedAt: createdAt,
    isCounted: true,
    ...given,
  };
  await db.transaction(async (tx) => {
    await tx.insert(tx.tables.artifacts).values(artifact);
    const { organizationId, size: bytes, isCounted } = artifact;
    if (isCounted)
      await addToTotals(tx, tx.tables.artifactTotals, hourOf(createdAt), [{ organizationId, bytes }]);
  });
  return artifact;
}

/** Like `leaveArtifact`, with the bytes. */
export async function leaveBytes(
  services: Pick<Services, "db" | "clock" | "blobs">,
  job: Job,
  content: string | Buffer,
  given: Partial<Artifact> = {},
): Promise<Artifact> {
  const bytes = Buffer.from(content);
  const sha1 = createHash("sha1").update(bytes).digest("hex");
  const artifact = await leaveArtifact(services, job, { size: bytes.length, sha1, ...given });
  const expected = { bytes: bytes.length, sha1 };
  const pieces = (async function* () {
    yield bytes;
  })();
  assert.equal(await services.blobs.write(artifactBlob(artifact.id), pieces, expected), undefined);
  return artifact;
}
