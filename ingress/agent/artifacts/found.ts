import { z } from "zod";
import { downloadUrl } from "../../../shared/artifacts/signatures.ts";
import { type Artifact, listArtifactsById } from "../../../shared/artifacts/store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import type { Services } from "../../../shared/services/services.ts";

export const foundArtifact = z.object({
  id: field.id,
  job_id: field.id,
  path: z.string(),
  absolute_path: z.string(),
  file_size: z.int(),
  sha1sum: z.string(),
  sha256sum: z.string().meta({ description: "Empty: unknown" }),
  content_type: z.string(),
  state: z.string(),
  created_at: field.timestamp,
  url: z.string().meta({ description: "Of its bytes" }),
  upload_destination: z.string().meta({ description: "Empty: here" }),
});

const maxAtOnce = 200;

/** The texts of artifacts in the order of their ids, read some at a time. Those that were deleted meanwhile are left out. */
export async function* presentFound(services: Services, ids: string[]): AsyncGenerator<string> {
  let comma = "";
  for (let at = 0; at < ids.length; at += maxAtOnce) {
    const some = ids.slice(at, at + maxAtOnce);
    const byId = new Map((await listArtifactsById(services.db, some)).map((each) => [each.id, each]));
    for (const id of some) {
      const artifact = byId.get(id);
      if (!artifact) continue;
      yield comma + JSON.stringify(present(services, artifact));
      comma = ",";
    }
  }
}

/** Agents expect text, never null. */
function present(services: Services, artifact: Artifact): z.input<typeof foundArtifact> {
  const { id, jobId, path, absolutePath, size, sha1, sha256, contentType, state, createdAt, url } = artifact;
  return {
    id,
    job_id: jobId,
    path,
    absolute_path: absolutePath,
    file_size: size,
    sha1sum: sha1,
    sha256sum: sha256 ?? "",
    content_type: contentType,
    state,
    created_at: createdAt.toISOString(),
    url: url ?? downloadUrl(services, id),
    upload_destination: artifact.uploadDestination ?? "",
  };
}
