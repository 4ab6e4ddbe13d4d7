import { artifactBlob } from "../blobs/blobs.ts";
import { checkBlob } from "../blobs/expected-content.ts";
import type { Services } from "../services/services.ts";
import { endTasks, listTasks } from "../tasks/store.ts";
import { discardBytes, failArtifacts } from "./fail.ts";
import { type Artifact, findArtifact, setStoredIfOpen } from "./store.ts";

/** Compares an artifact that a bucket got in parts with what was announced. One that differs becomes an error. */
export async function checkArtifact(services: Services, id: string): Promise<void> {
  const { blobs, db, log } = services;
  const due = await listTasks(db, "artifact", id);
  const artifact = await findArtifact(db, id);
  const isOpen = artifact?.state === "new" && artifact.storedAt === null;
  const difference = isOpen ? await checkBlob(blobs, artifactBlob(id), expectedOf(artifact)) : undefined;
  const failed = await db.transaction(async (tx) => {
    await endTasks(tx, due);
    if (!isOpen) return [];
    if (difference) return failArtifacts(tx, artifact.organizationId, [id]);
    await setStoredIfOpen(tx, { ids: [id], now: tx.now });
    return [];
  });
  if (difference) log.warn({ artifactId: id, difference }, "an artifact is not as it was announced");
  await discardBytes(services, failed);
}

function expectedOf({ size: bytes, sha1, sha256 }: Artifact) {
  return { bytes, sha1, sha256 };
}
