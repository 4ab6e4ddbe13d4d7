import { listStored } from "../../../shared/artifacts/unnamed-store.ts";
import { artifactBlob, BlobsUnavailable } from "../../../shared/blobs/blobs.ts";
import { findOwner } from "../../../shared/blobs/owner.ts";
import { findSharedValue } from "../../../shared/db/shared-values-store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type Finding, ok, problem } from "./finding.ts";

const check = "store of artifacts";
/** To look for all would take hours where there are millions. */
const maxChecked = 1000;
const maxNamed = 3;

/** Finds artifacts whose bytes are not in the store, as after a restore. */
export async function checkArtifacts(services: Services): Promise<Finding[]> {
  try {
    return [await checkStore(services)];
  } catch (error) {
    if (!(error instanceof BlobsUnavailable)) throw error;
    return [problem(check, error.message, "Look at BLOB_URL, and at the disk or the bucket that it names")];
  }
}

async function checkStore({ db, blobs }: Services): Promise<Finding> {
  const [owner, installation] = [await findOwner(blobs), await findSharedValue(db, "installation")];
  if (owner !== undefined && owner !== installation)
    return problem(
      check,
      `${blobs.place} is the store of another installation`,
      "Give each installation a BLOB_URL of its own. If this one is a copy of the other, whose processes have stopped for good, delete the file installation there",
    );
  const ids = (await listStored(db, { limit: maxChecked })).map(({ id }) => id);
  const missing: string[] = [];
  for (const id of ids) if (!(await blobs.find(artifactBlob(id)))) missing.push(id);
  if (missing.length === 0)
    return ok(check, `${blobs.place} has the bytes of the newest ${ids.length} artifacts`);
  return problem(
    check,
    `${blobs.place} lacks the bytes of ${missing.length} of the newest ${ids.length} artifacts, such as ${missing.slice(0, maxNamed).join(", ")}`,
    "Put them back from a backup (restore --artifacts, or copy the folder), or look at BLOB_URL: all processes need the same store",
  );
}
