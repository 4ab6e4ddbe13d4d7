import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { asc, eq } from "drizzle-orm";
import { freePort } from "../../scripts/scratch/ports.ts";
import { connectRepository } from "../../scripts/start/push/repository.ts";
import { agentTokenOf } from "../helpers/agent.ts";
import { openApi, unique } from "../helpers/api.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { eventually, post } from "../helpers/http.ts";
import { runWorker } from "../helpers/processes.ts";
import { settingsOf } from "../helpers/world.ts";
import { startAgent } from "../scripts/agent/agent.ts";
import { type Repository, startGitHost } from "./git-host.ts";
import { githubPush, githubRequest } from "./github-payloads.ts";
import { giteaRequest, zeros } from "./payloads.ts";

export type GitWorld = Awaited<ReturnType<typeof openGitWorld>>;
export type GitPipeline = Awaited<ReturnType<GitWorld["pipeline"]>>;

const agents = 3;

/** The names of this machine, each of which is a host of another kind. Of gitea, the demo's hook reports pushes. */
export const forms = {
  gitea: {
    host: "localhost",
    connection: "gitea",
    event: "X-Gitea-Event",
    sign: (hmac: string) => ({ "X-Gitea-Signature": hmac }),
    request: giteaRequest,
  },
  github: {
    host: "127.0.0.1",
    connection: "github_enterprise",
    event: "X-GitHub-Event",
    sign: (hmac: string) => ({ "X-Hub-Signature-256": `sha256=${hmac}` }),
    request: githubRequest,
  },
} as const;
export type Form = keyof typeof forms;

/** An installation with two processes of workers, and agents of ours, whose pipelines have repositories of real git. */
export async function openGitWorld(database: TestDatabase) {
  const port = String(await freePort());
  const address = `http://127.0.0.1:${port}`;
  const addresses = { PORT: port, PUBLIC_URL: address, BASE_URL: address, WEBHOOK_URL: address };
  const seconds = { AGENT_PING_SECONDS: "1", AGENT_STATUS_SECONDS: "1" };
  const api = await openApi(database, { ...addresses, ...seconds });
  const host = await startGitHost();
  const { db } = api.world.services;
  const { builds, deliveries, triggers } = db.tables;
  for (const { host: name, connection } of Object.values(forms)) {
    const body = { type: connection, url: `http://${name}:${host.port}` };
    const answer = await api.send("POST", "/repository_connections", { body });
    assert.equal(answer.status, 201, answer.text);
  }
  const settings = { ...settingsOf(api.world), ...addresses };
  const workers = await Promise.all([runWorker(settings), runWorker(settings)]);
  const token = await agentTokenOf(api.world, api.acme.cluster);
  const agent = startAgent({ endpoint: `${address}/v3` }, ["--token", token, "--spawn", String(agents)]);

  /** Makes a repository and its pipeline, which prints what agents check out. */
  const pipeline = async (form: Form, settings: object = {}, body: object = {}) => {
    const { host: name, event, sign, request } = forms[form];
    const repository = await host.repository(name, unique(form));
    const facts = { id: 7, clone_url: repository.url };
    const { slug, id } = await api.newPipeline({
      repository: repository.url,
      provider_settings: settings,
      steps: [{ command: printing }],
      ...body,
    });
    const rotated = await api.send("POST", `/pipelines/${slug}/provider/rotate`);
    assert.equal(rotated.status, 200, rotated.text);
    const { webhook_url: webhookUrl, secret } = rotated.body;
    if (form === "gitea")
      connectRepository({ repository: repository.url, webhookUrl, secret }, repository.bare);

    /** Sends a signed event as the host does. @returns the delivery's id */
    const send = async (name: string, payload: object): Promise<string> => {
      const text = JSON.stringify(payload);
      const hmac = createHmac("sha256", secret).update(text).digest("hex");
      const answer = await post(webhookUrl, text, { [event]: name, ...sign(hmac) });
      assert.equal(answer.status, 201, answer.text);
      return answer.body.id;
    };
    /** Pushes one ref. What reports it is the hook, or an event of github. */
    const push = async (source: string, ref: string) => {
      await repository.git("push", "--quiet", "origin", `${source}:${ref}`);
      if (form === "github" && !ref.startsWith("refs/pull/"))
        await send("push", { ...(await pushEvent(repository, source, ref)), repository: facts });
    };
    return {
      slug,
      id,
      repository,
      push,
      /** Reports a push to `main`, as github does. */
      report: (commit: string, message: string) =>
        send("push", { ...githubPush({ after: commit }, { id: commit, message }), repository: facts }),
      /** Reports a pull request that is opened. */
      open: (number: number, change: object) =>
        send(
          "pull_request",
          request("opened", { number, title: `Request ${number}`, ...change }, { repository: facts }),
        ),
      builds: () => db.select().from(builds).where(eq(builds.pipelineId, id)).orderBy(asc(builds.number)),
      /** Waits until a build ends. @returns its facts and its log */
      async ended(number: number) {
        const path = `/pipelines/${slug}/builds/${number}`;
        const build = await eventually(`the end of ${slug} #${number}`, async () => {
          const { body } = await api.send("GET", path);
          return body.finished_at && body;
        });
        const [job] = build.jobs;
        const log: string = (await api.send("GET", `${path}/jobs/${job.id}/log.txt`)).text;
        assert.equal(build.state, "passed", log);
        return { build, log };
      },
      /** Waits until all deliveries are decided. @returns why they made no builds */
      async reasons(): Promise<(string | null)[]> {
        return eventually(`the decisions of ${slug}`, async () => {
          const rows = await db
            .select({ status: deliveries.status, reason: deliveries.reason })
            .from(deliveries)
            .innerJoin(triggers, eq(triggers.id, deliveries.triggerId))
            .where(eq(triggers.pipelineId, id))
            .orderBy(asc(deliveries.id));
          return rows.every(({ status }) => status !== null) && rows.map(({ reason }) => reason);
        });
      },
    };
  };
  return {
    ...api,
    host,
    pipeline,
    async close() {
      await agent[Symbol.asyncDispose]();
      await Promise.all(workers.map((worker) => worker.kill("SIGTERM")));
      await api.close();
      host.close();
    },
  };
}

/** The HEAD of the checkout, what variables say of it, and whether secrets can be read. */
const printing = [
  'echo "HEAD is $(git rev-parse HEAD) of $BUILDKITE_COMMIT"',
  'echo "branch $BUILDKITE_BRANCH, tag $BUILDKITE_TAG, request $BUILDKITE_PULL_REQUEST"',
  'signalbox-agent secret get DEPLOY_KEY > key && echo "a secret" || echo "no secret"',
].join("\n");

/** As github reports a push: `after` of an annotated tag is the tag, and its `head_commit` the commit. */
async function pushEvent({ git }: Repository, source: string, ref: string): Promise<object> {
  if (source === "") return { ...githubPush({ ref, after: zeros, deleted: true }), head_commit: null };
  const [after = "", id = ""] = (await git("rev-parse", source, `${source}^{commit}`)).split("\n");
  const message = await git("log", "-1", "--format=%B", id);
  return githubPush({ ref, after }, { id, message });
}
