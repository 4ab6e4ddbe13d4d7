import { z } from "zod";
import { type Actor, audit } from "../accounts/audit.ts";
import { requireStorage } from "../accounts/storage.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Tx } from "../db/database.ts";
import { environmentSchema, sealEnvironment } from "../pipelines/environment.ts";
import type { PipelineFacts } from "../pipelines/store.ts";
import type { Config } from "../process/config.ts";
import type { Services } from "../process/services.ts";
import { type Problem, validationFailed } from "../refusal.ts";
import { optionalText, record } from "../validation.ts";
import { auditSubject } from "./builds.ts";
import { entryProblems } from "./meta-data.ts";
import { createOneBuild } from "./rebuild.ts";
import type { Build } from "./store.ts";
import { storeInTurn } from "./store-in-turn.ts";

const maxMetaData = 100;

const author = z.object(
  { name: optionalText("Author name", 255), email: optionalText("Author email", 255) },
  { error: "Author must be an object" },
);

/** Null counts as absent in all members. */
export const newBuild = z.object({
  commit: optionalText("Commit", 1000).meta({ description: "Default: HEAD" }),
  branch: optionalText("Branch", 1000).meta({ description: "Default: the pipeline's default branch" }),
  message: optionalText("Message", 10_000),
  env: environmentSchema("Env").nullish().meta({
    description:
      "Variables of the build. Tokens with the scope read_builds can read them: do not put secrets here",
  }),
  meta_data: record(
    "Meta-data",
    z.string({ error: "Meta-data values must be text" }),
    "Meta-data must be an object of names and text",
  ).nullish(),
  author: author.nullish().meta({ description: "Default: none" }),
});
export type NewBuild = z.output<typeof newBuild>;

/** The reasons why a build cannot have this meta-data. */
export function newBuildProblems(
  { serviceName }: Pick<Config, "serviceName">,
  { meta_data }: Pick<NewBuild, "meta_data">,
): Problem[] {
  const entries = Object.entries(meta_data ?? {});
  const messages = entries.flatMap(([key, value]) => entryProblems({ key, value }, serviceName));
  if (entries.length > maxMetaData) messages.push(`Meta-data has more than ${maxMetaData} keys`);
  return [...new Set(messages)].map((message) => ({ field: "meta_data", message }));
}

/**
 * Makes a build that no webhook asked for.
 * @throws Refusal 422
 */
export async function createBuildByHand(
  services: Services,
  actor: Actor,
  pipeline: PipelineFacts,
  { source = "api", ...input }: Partial<NewBuild> & { source?: "api" | "ui" },
): Promise<{ build: Build }> {
  const { cipher, config, db, events } = services;
  const { commit = "HEAD", branch = pipeline.defaultBranch, message = "Built by hand", author } = input;
  const problems = newBuildProblems(config, { meta_data: input.meta_data });
  if (problems.length > 0) throw validationFailed(...problems);

  const make = async (tx: Tx) => {
    await requireStorage(tx, config, pipeline.organizationId);
    const made = await createOneBuild(tx, services, {
      pipelineId: pipeline.id,
      deliveryId: null,
      creatorId: actor.userId,
      author: author ? (withoutAbsent(author) as { name?: string; email?: string }) : null,
      source,
      message,
      commit,
      branch,
      environmentSealed: sealEnvironment(cipher, input.env ?? {}, sealedPlaces.variablesOfBuilds),
    });
    const buildId = made.build.id;
    const entries = Object.entries(input.meta_data ?? {}).map(([key, value]) => ({ buildId, key, value }));
    await tx.insertMany(tx.tables.metaData, entries);
    await audit(tx, actor, "created", auditSubject(made.build, pipeline));
    return made;
  };
  const { build, changed } = await storeInTurn(pipeline.organizationId, () => db.transaction(make));
  events.publish(changed);
  return { build };
}

function withoutAbsent(members: object) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
