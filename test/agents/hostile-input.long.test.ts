import assert from "node:assert/strict";
import { it } from "node:test";
import { count, eq } from "drizzle-orm";
import { newId } from "../../shared/ids.ts";
import { openAgentApi, registration, sendAsAgent } from "../helpers/agent.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("hostile input of agents", openAgentApi, (api) => {
  const begin = async (step: object = {}) => {
    const { pipeline, newAgent } = await api.buildOnQueue({ command: "x", ...step });
    const agent = await newAgent();
    const job = (await agent.offered()) as string;
    return { agent, job, pipeline };
  };

  for (const text of ["a\0b", "\ud800", "\x1b[31m\r\n<script>"]) {
    const shown = JSON.stringify(text);

    it(`answers no text with 500: ${shown}`, async () => {
      for (const member of ["name", "hostname", "os", "arch", "version", "build", "pid", "priority"]) {
        const body = { ...registration, [member]: text };
        const { status } = await sendAsAgent(api.world.url, api.agentToken, {
          method: "POST",
          path: "/register",
          body,
        });
        assert.equal(status, 200, member);
      }
      for (const name of ["name", "hostname", "version"]) {
        const { status } = await api.send(
          "GET",
          `/agents?${name}=${encodeURIComponent(text.toWellFormed())}`,
        );
        assert.ok(status < 500, `${name} ${status}`);
      }
      for (const tag of [text, `a=${text}`, `queue=${text}`]) {
        const body = { ...registration, meta_data: [tag] };
        const { status } = await sendAsAgent(api.world.url, api.agentToken, {
          method: "POST",
          path: "/register",
          body,
        });
        assert.ok(status < 500, `${tag} ${status}`);
      }
      const { agent, job } = await begin();
      const statuses = [
        await agent.send("POST", "/pause", { note: text }),
        await agent.send("POST", "/resume"),
        await agent.send("POST", "/heartbeat", { sent_at: text }),
        await agent.send("GET", `/jobs/${encodeURIComponent(text.replaceAll("\ud800", "é"))}`),
        await agent.send("PUT", `/jobs/${encodeURIComponent(text.replaceAll("\ud800", "é"))}/accept`),
      ].map(({ status }) => status);
      assert.ok(Math.max(...statuses) < 500, `${statuses}`);

      const offered = await agent.offered();
      const { token: jobToken } = await agent.begin(offered ?? job);
      const finished = await agent.send(
        "PUT",
        `/jobs/${job}/finish`,
        { exit_status: "1", signal: text, signal_reason: text, finished_at: text },
        jobToken,
      );
      assert.equal(finished.status, 200, finished.text);
    });
  }

  it("keeps few tokens of an attempt that is accepted again and again", async () => {
    const { agent, job } = await begin();
    const { db } = api.world.services;
    let last = "";
    for (let round = 0; round < 30; round++)
      last = (await agent.send("PUT", `/jobs/${job}/accept`)).body.token;

    const { jobTokens } = db.tables;
    const [row] = await db.select({ total: count() }).from(jobTokens).where(eq(jobTokens.jobId, job));
    assert.ok((row?.total ?? 0) <= 10, `${row?.total}`);
    assert.equal((await agent.send("PUT", `/jobs/${job}/start`, {}, last)).status, 200);
  });

  it("bounds the retries of a build", async () => {
    const { agent, job, pipeline } = await begin();
    const { token: jobToken } = await agent.begin(job);
    await agent.finish(job, 1, jobToken);
    const { db } = api.world.services;
    const { jobs } = db.tables;
    const [ended] = await db.select().from(jobs).where(eq(jobs.id, job));
    assert.ok(ended);
    const others = Array.from({ length: 3999 }, () => ({ ...ended, id: newId(new Date()) }));
    await db.transaction((tx) => tx.insertMany(jobs, others));
    const path = `/pipelines/${pipeline.slug}/builds/1/jobs/${job}/retry`;
    const refused = await api.send("PUT", path);
    assert.deepEqual(
      [refused.status, refused.body.message],
      [422, "Job cannot be retried: its build has too many jobs"],
    );
  });

  it("bounds the meta-data of a build", async () => {
    const { agent, job } = await begin();
    const { token: jobToken } = await agent.begin(job);
    const set = (items: object[]) => agent.send("POST", `/jobs/${job}/data/set-batch`, { items }, jobToken);
    const value = "x".repeat(100 * 1024);
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      const items = Array.from({ length: 9 }, (_, index) => ({ key: `${round}-${index}`, value }));
      statuses.push((await set(items)).status);
    }
    assert.deepEqual(statuses, [200, 200, 422]);
    assert.equal((await set([{ key: "0-0", value: "short" }])).status, 200, "an entry can shrink");
  });

  it("bounds the keys of a build", async () => {
    const { agent, job } = await begin();
    const { token: jobToken } = await agent.begin(job);
    const set = (from: number, length: number) =>
      agent.send(
        "POST",
        `/jobs/${job}/data/set-batch`,
        { items: Array.from({ length }, (_, index) => ({ key: `key ${from + index}`, value: "" })) },
        jobToken,
      );
    assert.equal((await set(0, 1000)).status, 200);
    assert.equal((await set(1000, 1)).status, 422);
    assert.equal((await set(999, 1)).status, 200);
  });
});
