import assert from "node:assert/strict";
import { after, before, describe, it, mock } from "node:test";
import Client from "better-sqlite3";
import { audit } from "../../../../shared/accounts/audit.ts";
import { insertAgents } from "../../../../shared/agents/store.ts";
import { createAgentToken } from "../../../../shared/agents/tokens.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { listJobs } from "../../../../shared/builds/rows/build-store.ts";
import { newId } from "../../../../shared/ids.ts";
import { createPipeline } from "../../../../shared/pipelines/pipelines.ts";
import type { Step } from "../../../../shared/vocabulary.ts";
import { sqlite } from "../../../helpers/databases.ts";
import { type QueuePages, startQueuePages } from "../../../helpers/pages.ts";

const kilobyte = 1024;
const large = "x".repeat(50 * kilobyte);
const steps: Step[] = Array.from({ length: 10 }, () => ({ command: large, env: { LARGE: large } }));
const message = "m".repeat(10_000);
const things = 10;

/** Counts the bytes of texts that are read from SQLite files on this thread. */
function countReadBytes() {
  let bytes = 0;
  const statement = new Client(":memory:").prepare("select 1");
  const { all, get } = Object.getPrototypeOf(statement);
  const add = (value: unknown): void => {
    if (typeof value === "string") bytes += value.length;
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(add);
  };
  for (const [name, read] of Object.entries({ all, get }))
    mock.method(Object.getPrototypeOf(statement), name, function (this: unknown, ...args: unknown[]) {
      const found = read.apply(this, args);
      add(found);
      return found;
    });
  return () => {
    const taken = bytes;
    bytes = 0;
    return taken;
  };
}

describe("pages of things with large members", () => {
  let pages: QueuePages;
  let takeBytes: () => number;

  before(async () => {
    takeBytes = countReadBytes();
    pages = await startQueuePages(sqlite);
    const { services, acme, clock } = pages;
    const { cluster, queue, operator } = acme;
    const { id: agentTokenId } = (
      await createAgentToken(services, operator, cluster, { description: "", queueId: null, expiresAt: null })
    ).agentToken;
    for (let number = 0; number < things; number++) {
      const name = `large-${number}`;
      const environment = { LARGE: large };
      const input = { clusterId: cluster.id, slug: name, name, steps, environment };
      const pipeline = await createPipeline(services, operator, input);
      const build = { message, env: { LARGE: large } };
      const { build: made } = await createBuildByHand(services, operator, pipeline, build);
      const jobs = await listJobs(services.db, [made.id]);
      await acme.trigger({ label: name, environment }, name);
      const subject = { type: "pipeline", id: pipeline.id, name } as const;
      await services.db.transaction(async (tx) => {
        await audit(tx, operator, "updated", subject);
        await insertAgents(tx, [
          {
            id: newId(clock.now()),
            organizationId: acme.id,
            clusterId: cluster.id,
            queueId: queue.id,
            agentTokenId,
            tokenHash: name,
            name,
            hostname: "host",
            os: "linux",
            arch: "x64",
            version: "4",
            namePattern: null,
            nameNumber: null,
            unacceptedJobId: null,
            build: "1",
            pid: null,
            metaData: [],
            priority: null,
            ip: "127.0.0.1",
            userAgent: null,
            ignoreInDispatches: false,
            state: "connected",
            jobId: jobs[0]?.job.id ?? null,
            lostJobId: null,
            createdAt: clock.now(),
            connectedAt: clock.now(),
            seenAt: clock.now(),
            lostAt: null,
            disconnectedAt: null,
            lastJobFinishedAt: null,
            stopRequestedAt: null,
            stopRequestedById: null,
            pausedAt: null,
            pausedById: null,
            pausedNote: null,
            pausedUntil: null,
          },
        ]);
      });
    }
  });
  after(async () => {
    mock.restoreAll();
    await pages.close();
  });

  const org = "/organizations/acme";
  const visited: Record<string, (paths: QueuePages["paths"]) => string> = {
    "of the organization": () => org,
    "of an organization": () => org,
    "of pipelines": () => `${org}/pipelines`,
    "of builds": () => `${org}/builds`,
    "of the audit log": () => `${org}/audit?type=pipeline`,
    "of a cluster": ({ cluster }) => cluster,
    "of a queue": ({ queue }) => queue,
    "of a pipeline's triggers": () => `${org}/pipelines/large-1/triggers`,
    "of the deletion of a pipeline": () => `${org}/pipelines/large-1/delete`,
  };
  for (const [name, pathOf] of Object.entries(visited))
    it(`read none of them: the page ${name}`, async () => {
      const ada = await pages.visitor(pages.ada);
      takeBytes();

      const { status, text } = await ada.get(pathOf(pages.paths));

      assert.equal(status, 200);
      const bytes = takeBytes();
      // The variables of one pipeline are sealed in its row, which its pages read.
      assert.ok(bytes > 0 && bytes < 120 * kilobyte, `${bytes} bytes were read`);
      assert.ok(text.length < 120 * kilobyte, `${text.length} characters`);
    });

  it("read only the beginnings of commands: the page of a build", async () => {
    const ada = await pages.visitor(pages.ada);
    takeBytes();

    const { status, text } = await ada.get(`${org}/pipelines/large-1/builds/1`);

    assert.equal(status, 200);
    assert.ok(text.includes("x".repeat(300)) && !text.includes("x".repeat(500)));
    // With the sealed variables of the pipeline and the build.
    assert.ok(takeBytes() < 200 * kilobyte);
  });

  it("are changed without reading the jobs of a build", async () => {
    const ada = await pages.visitor(pages.ada);
    takeBytes();

    const { status } = await ada.post(`${org}/pipelines/large-2/builds/1/cancel`, {});

    assert.equal(status, 303);
    const bytes = takeBytes();
    assert.ok(bytes < 400 * kilobyte, `${bytes} bytes were read`);
  });

  it("say how a refused deletion of a cluster or queue comes, without reading steps", async () => {
    const ada = await pages.visitor(pages.ada);
    takeBytes();

    const { status, text } = await ada.post(`${pages.paths.cluster}/delete`, {});

    assert.equal(status, 422);
    assert.match(text, /11 pipelines still use it: .*large-0.* and 1 more\./);
    assert.ok(takeBytes() < 50 * kilobyte);
  });
});
