import { z } from "zod";
import type { Artifact } from "../../../shared/artifacts/store.ts";
import * as field from "../../../shared/presenters/fields.ts";
import type { Config } from "../../../shared/settings/config.ts";
import { api, type BuildAddress } from "../../../shared/settings/urls.ts";
import { artifactStates } from "../../../shared/vocabulary.ts";

export const artifactSchema = z
  .object({
    id: field.id,
    job_id: field.id,
    url: field.url,
    download_url: field.url,
    state: z.enum(artifactStates),
    path: z.string().meta({ description: "As its agent wrote it: on Windows with \\" }),
    dirname: z.string().meta({ description: "The folder in the path, or a dot" }),
    filename: z.string(),
    mime_type: z.string(),
    file_size: z.int(),
    glob_path: z.null(),
    original_path: z.null(),
    sha1sum: z.string(),
  })
  .meta({ id: "Artifact" });

export function presentArtifact(
  config: Config,
  build: BuildAddress,
  { id, jobId, state, path, contentType, size, sha1 }: Artifact,
): z.infer<typeof artifactSchema> {
  const url = api.artifact(config, build, jobId, id);
  const end = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return {
    id,
    job_id: jobId,
    url,
    download_url: `${url}/download`,
    state,
    path,
    dirname: end === -1 ? "." : path.slice(0, Math.max(1, end)),
    filename: path.slice(end + 1),
    mime_type: contentType,
    file_size: size,
    glob_path: null,
    original_path: null,
    sha1sum: sha1,
  };
}
