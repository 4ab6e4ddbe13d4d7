import assert from "node:assert/strict";
import { serviceMessages } from "../../shared/notifications/message-kind.ts";
import { openOutbox } from "../../shared/outbox/outbox.ts";
import { wakeMessages } from "../../shared/outbox/wake.ts";
import { openDueEvents } from "../../shared/process/due.ts";
import { PublicAgent, type Version, versions } from "../agents/public-agent.ts";
import { agentTokenOf } from "../helpers/agent.ts";
import { openApi } from "../helpers/api.ts";
import { openSettling, runSlices } from "../helpers/builds.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { startReceiver, token } from "./receivers.ts";

/** An installation that sends to receivers on this machine when a test wants it, of the rows as they are then. */
export async function openNotifications(database: TestDatabase, settings: Record<string, string> = {}) {
  const api = await openApi(database, {
    OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8",
    NOTIFICATION_SERVICES_PER_ORGANIZATION: "500",
    ...settings,
  });
  const closers: (() => unknown)[] = [];
  const made: string[] = [];
  const outbox = openOutbox({ ...api.world.services, due: openDueEvents() }, { service: serviceMessages });
  closers.push(() => outbox.close());

  const makeService = async (body: object) => {
    const answer = await api.send("POST", "/services", { body });
    assert.equal(answer.status, 201, answer.text);
    made.push(answer.body.id);
    return answer.body;
  };

  return {
    ...api,
    ...api.world,
    makeService,
    atEnd: (close: () => unknown) => void closers.push(close),
    async end() {
      for (const close of closers.splice(0).reverse()) await close();
    },
    /** Deletes the services of the test before. */
    async forget() {
      for (const id of made.splice(0)) await api.send("DELETE", `/services/${id}`);
    },
    async sent() {
      for (const id of made) await runSlices(wakeMessages, api.world.services, id);
      outbox.wake();
      await outbox.idle();
    },
    /** Makes a webhook, and its receiver. */
    async listen(mode: "token" | "signature", given: object, settings: object) {
      const receiver = await startReceiver(mode, api.world.clock);
      closers.push(() => receiver.close());
      const own = { url: receiver.url, token, token_mode: mode, events: [], ...settings };
      return { receiver, service: await makeService({ provider: "webhook", ...given, settings: own }) };
    },
    async read(path: string, token?: string) {
      const { status, body, text } = await api.send("GET", path, token === undefined ? {} : { token });
      assert.equal(status, 200, text);
      return body;
    },
    /** A pipeline with one job, on a queue of its own. */
    async newPipelineWithJob() {
      const { key } = await api.newQueue();
      const pipeline = await api.newPipeline({ steps: [{ command: "make", agents: { queue: key } }] });
      return { pipeline, queue: key as string };
    },
    /** Runs a build with one job in one agent. @returns the id of the job */
    async runBuild(pipeline: { id: string }, queue: string, exitStatus = "0"): Promise<string> {
      await api.build(pipeline.id);
      const agent = new PublicAgent(api.world.url, versions[1] as Version);
      const { settle, close } = openSettling(api.world.services);
      try {
        await agent.start(await agentTokenOf(api.world, api.acme.cluster), queue);
        await settle();
        const { job: offered } = await agent.ping();
        assert.ok(offered);
        const job = await agent.accept(offered.id);
        await agent.run(job);
        await agent.finish(job, exitStatus);
        await settle();
        return job.id;
      } finally {
        await agent.send("POST", "/disconnect");
        agent.close();
        await close();
      }
    },
  };
}
