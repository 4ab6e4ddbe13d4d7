import assert from "node:assert/strict";
import { agentTokenOf, startAgent } from "../../helpers/agent.ts";
import { openApi } from "../../helpers/api.ts";
import { openSettling } from "../../helpers/builds.ts";
import type { TestDatabase } from "../../helpers/databases.ts";

export type Chain = Awaited<ReturnType<typeof openChain>>;

/** An installation whose pipelines trigger each other, with one agent. */
export async function openChain(database: TestDatabase, settings: Record<string, string> = {}) {
  const api = await openApi(database, settings);
  const { settle, close } = openSettling(api.world.services);
  const agent = await startAgent(api.world.url, await agentTokenOf(api.world, api.acme.cluster));

  /** Sends a request, and waits for what it made due. */
  const send: typeof api.send = async (...given) => {
    const answer = await api.send(...given);
    await settle();
    return answer;
  };
  const must = async (...given: Parameters<typeof api.send>) => {
    const { status, text, body } = await send(...given);
    assert.ok(status < 300, `${status} ${text}`);
    return body;
  };
  /** The steps of a new pipeline. @returns its slug */
  const newPipeline = async (steps: object[], more: object = {}): Promise<string> =>
    (await api.newPipeline({ steps, ...more })).slug;
  const show = (slug: string, number = 1) =>
    must("GET", `/pipelines/${slug}/builds/${number}?include_retried_jobs=true`);

  return {
    api,
    agent,
    settle,
    send,
    must,
    newPipeline,
    show,
    build: (slug: string, body: object = {}) =>
      must("POST", `/pipelines/${slug}/builds`, { body: { commit: "HEAD", branch: "main", ...body } }),
    builds: async (slug: string) => must("GET", `/pipelines/${slug}/builds`),
    /** The states of a build and of its jobs. */
    states: async (slug: string, number = 1) => {
      const { state, jobs } = await show(slug, number);
      return [state, ...jobs.map((job: { state: string }) => job.state)];
    },
    /** Takes the next job and ends it. */
    run: async (exitStatus = 0) => {
      const id = await agent.runOne(exitStatus);
      await settle();
      return id;
    },
    close: async () => {
      await close();
      await api.close();
    },
  };
}
