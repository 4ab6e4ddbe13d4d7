import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { User } from "../../../shared/accounts/user-store.ts";
import { buildEnvironment } from "../../../shared/builds/environment.ts";
import type { Build } from "../../../shared/builds/store.ts";
import type { Cipher } from "../../../shared/crypto/cipher.ts";
import type { Config } from "../../../shared/process/config.ts";
import { api, web } from "../../../shared/urls.ts";
import { buildStates } from "../../../shared/vocabulary.ts";
import * as field from "../../operations/fields.ts";
import { graphqlId } from "./graphql-id.ts";
import { jobSchema } from "./job.ts";
import { pipelineSchema } from "./pipeline.ts";
import { presentUserById, userSchema } from "./user.ts";

export const buildSchema = z
  .object({
    id: field.id,
    graphql_id: field.graphql,
    url: field.url,
    web_url: field.url,
    number: z.int(),
    state: z.enum(buildStates),
    blocked: z.boolean(),
    message: z.string(),
    commit: z.string(),
    branch: z.string(),
    env: z.record(z.string(), z.string()).meta({ description: "With the variables of its trigger" }),
    source: z.string(),
    author: z.object({ name: z.string().optional(), email: z.string().optional() }).nullable(),
    creator: userSchema.nullable(),
    rebuilt_from: z.object({ id: field.id, number: z.int(), url: field.url }).nullable(),
    created_at: field.timestamp,
    scheduled_at: field.timestamp,
    started_at: field.timestamp.nullable(),
    finished_at: field.timestamp.nullable(),
    meta_data: z.record(z.string(), z.string()),
    pipeline: pipelineSchema.optional().meta({ description: "Not with exclude_pipeline=true" }),
    jobs: z.array(jobSchema).optional().meta({ description: "Not with exclude_jobs=true" }),
  })
  .meta({ id: "Build" });

export interface BuildContext {
  cipher: Cipher;
  config: Config;
  organization: Organization;
  /** Users by id. Contains at least the creators of the presented builds. */
  users: ReadonlyMap<string, User>;
}

export interface BuildToPresent {
  build: Build;
  pipeline: { slug: string };
  metaData: Record<string, string>;
  rebuiltFrom: Pick<Build, "id" | "number"> | undefined;
}

/** Presents all of a build but its pipeline and its jobs, which may be large. */
export function presentBuild(
  { cipher, config, organization, users }: BuildContext,
  { build, pipeline, metaData, rebuiltFrom }: BuildToPresent,
) {
  const address = { org: organization.slug, slug: pipeline.slug };
  return {
    id: build.id,
    graphql_id: graphqlId("Build", build.id),
    url: api.build(config, address, build.number),
    web_url: web.build(config, address, build.number),
    number: build.number,
    state: build.state,
    blocked: false,
    message: build.message,
    commit: build.commit,
    branch: build.branch,
    env: buildEnvironment(cipher, build, address),
    source: build.source,
    author: build.author,
    creator: presentUserById(config, users, build.creatorId),
    rebuilt_from: rebuiltFrom
      ? { ...rebuiltFrom, url: api.build(config, address, rebuiltFrom.number) }
      : null,
    created_at: build.createdAt,
    scheduled_at: build.createdAt,
    started_at: build.startedAt,
    finished_at: build.finishedAt,
    meta_data: metaData,
  };
}
