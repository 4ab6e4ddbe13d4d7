import type { Actor } from "../../../shared/accounts/audit.ts";
import { findOrganization } from "../../../shared/accounts/organization-store.ts";
import { asOperator } from "../../../shared/accounts/organizations.ts";
import { createConnection } from "../../../shared/connections/connections.ts";
import { createPipeline, updatePipeline } from "../../../shared/pipelines/pipelines.ts";
import { openWebhook } from "../../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../../shared/pipelines/provider/webhook-store.ts";
import { findPipeline, type Pipeline } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type Demo, demoOrganization, demoPipeline } from "../../seed.ts";
import {
  connectRepository,
  hasRepository,
  makeRepository,
  repositoriesSecret,
  repositoryProblem,
  repositoryUrl,
} from "./repository.ts";

export const pushedPipeline = "greeting";

/** The part of the demo that builds pushes. */
export interface PushDemo {
  /** Of the git server. */
  port: number;
  secret: string;
  /** Of the repository. */
  url: string;
  /** Number of the next build. */
  nextBuild: number;
}

/**
 * Makes the repository with the demo, and the pipeline that builds it. At later starts both get the present addresses.
 * @returns why there is none, as the end of a sentence; undefined: somebody has deleted it
 */
export async function preparePushDemo(
  services: Services,
  { isNew }: Pick<Demo, "isNew">,
  port: number,
): Promise<PushDemo | string | undefined> {
  const problem = repositoryProblem();
  if (problem !== undefined) return problem;
  const organization = await findOrganization(services.db, demoOrganization);
  if (!organization) return undefined;
  const actor = await asOperator(services.db, organization);
  const secret = repositoriesSecret();
  const url = repositoryUrl({ port, secret });
  if (isNew) await make(services, actor, url);
  const pipeline = await find(services, organization.id, pushedPipeline);
  if (!pipeline || !hasRepository()) return undefined;
  if (pipeline.repository !== url) await updatePipeline(services, actor, pipeline, { repository: url });
  const webhook = await findWebhook(services.db, { pipelineId: pipeline.id });
  if (!webhook) return undefined;
  connectRepository({ repository: url, ...openWebhook(services, webhook) });
  return { port, secret, url, nextBuild: pipeline.lastBuildNumber + 1 };
}

async function make(services: Services, actor: Actor, url: string): Promise<void> {
  const neighbor = await find(services, actor.organization.id, demoPipeline);
  if (!neighbor) return;
  makeRepository();
  await createConnection(services, actor, { type: "gitea", url: new URL(url).origin, token: null });
  await createPipeline(services, actor, {
    clusterId: neighbor.clusterId,
    slug: pushedPipeline,
    name: "Greeting",
    repository: url,
    steps: [{ label: "Greet", command: "cat greeting.txt" }],
  });
}

function find({ db }: Services, organizationId: string, slug: string): Promise<Pipeline | undefined> {
  return findPipeline(db, { organizationId, slug });
}
