import { artifactBlob } from "../blobs/blobs.ts";
import { checkBlob } from "../blobs/expected-content.ts";
import type { Services } from "../process/services.ts";
import { turns as bounds } from "../sharing/bounds.ts";
import { openTasksByKey, type TasksByKey } from "../sharing/tasks.ts";
import { openTurns } from "../sharing/turns.ts";
import { discardBytes, failArtifacts } from "./fail.ts";
import { type Artifact, findArtifact, setStoredIfOpen } from "./store.ts";

/**
 * Compares artifacts that a bucket got in parts with what was announced. Those that differ become an error. An agent
 * that asks again has a check sent again, so one that is lost is repeated.
 */
export function openArtifactChecks(services: Services): TasksByKey {
  const turns = openTurns(bounds.artifactChecks);
  return openTasksByKey(
    async (id, signal) => {
      const artifact = await findArtifact(services.db, id);
      if (artifact?.state !== "new" || artifact.storedAt !== null) return;
      await turns.take(artifact.organizationId, () => checkArtifact(services, artifact), signal);
    },
    (id, error) => services.log.error({ err: error, artifactId: id }, "an artifact could not be checked"),
  );
}

async function checkArtifact(services: Services, artifact: Artifact): Promise<void> {
  const { id, organizationId, size: bytes, sha1, sha256 } = artifact;
  const difference = await checkBlob(services.blobs, artifactBlob(id), { bytes, sha1, sha256 });
  const failed = await services.db.transaction(async (tx) => {
    if (difference) return failArtifacts(tx, organizationId, [id]);
    await setStoredIfOpen(tx, id);
    return [];
  });
  if (difference) services.log.warn({ artifactId: id, difference }, "an artifact is not as it was announced");
  await discardBytes(services, failed);
}
