import { randomUUID } from "node:crypto";
import { type BuildRequest, createBuilds } from "../../../shared/builds/making/builds.ts";
import { buildRequest } from "../../helpers/api.ts";
import type { TestDatabase } from "../../helpers/databases.ts";
import { openChain } from "../triggers/open-chain.ts";

export type Hosts = Awaited<ReturnType<typeof openHosts>>;

/** A job that an agent runs. */
export interface Taken {
  job: string;
  token: string;
  env: Record<string, string>;
}

export const sha = "d670460b4b4aece5915caf5c68d12f560a9fe3e4";

/** Like `openChain`, with builds as webhooks of source hosts make them. */
export async function openHosts(database: TestDatabase, settings: Record<string, string> = {}) {
  const chain = await openChain(database, settings);
  const { api, agent, settle } = chain;
  const { services, clock } = api.world;

  /** Makes a build of a pipeline. @returns its path in REST */
  const report = async (slug: string, more: Partial<BuildRequest> = {}): Promise<string> => {
    const { id } = await chain.must("GET", `/pipelines/${slug}`);
    const request = { ...buildRequest(id), commit: sha, ...more };
    const { builds } = await services.db.transaction((tx) =>
      createBuilds(tx, services, [request], clock.now()),
    );
    await settle();
    return `/pipelines/${slug}/builds/${builds[0]?.number}`;
  };
  const take = async (): Promise<Taken> => {
    const job = await agent.offered();
    if (job === undefined) throw new Error("No job waits.");
    const { token, env } = await agent.begin(job);
    return { job, token, env };
  };
  const call = async (method: string, path: string, { token }: Pick<Taken, "token">, body?: unknown) => {
    const answer = await agent.send(method, path, body, token);
    await settle();
    return answer;
  };
  return {
    ...chain,
    report,
    take,
    call,
    upload: (taken: Taken, ...steps: object[]) =>
      call("POST", `/jobs/${taken.job}/pipelines`, taken, { uuid: randomUUID(), pipeline: { steps } }),
    finish: async ({ job, token }: Taken, exitStatus = 0) => {
      await agent.finish(job, exitStatus, token);
      await settle();
    },
    /** Runs what is left. */
    drain: async () => {
      while (await chain.run());
    },
  };
}
