import assert from "node:assert/strict";
import { it } from "node:test";
import { gzipSync } from "node:zlib";
import { openApi } from "../helpers/api.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { enterJob } from "./inside/in-a-job.ts";

/** By the form of an exit status: the one that is meant. */
const exitStatuses: [unknown, number][] = [
  ["0", 0],
  [0, 0],
  ["-0", 0],
  ["7", 7],
  [" 7\n", 7],
  ["+7", 7],
  [7.0, 7],
  [-1, -1],
  ["2147483646", 2147483646],
  [2147483647, 2147483647],
  ["2147483648", 2147483648],
  [3221225477, 3221225477],
  ["3221225786", 3221225786],
  ["0xC0000005", 3221225477],
  ["4294967295", 4294967295],
  ["4294967296", 4294967295],
  [1e300, 4294967295],
  [-1073741819, -1073741819],
  ["-2147483649", -2147483648],
  ["9".repeat(400), 4294967295],
  [0.5, 1],
  ["", -1],
  [" ", -1],
  ["one", -1],
  [null, -1],
  [undefined, -1],
  [true, -1],
  [false, -1],
  [{}, -1],
  [[0], -1],
];

const oddValues = [
  undefined,
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  "",
  " ",
  "x",
  "3",
  "\0",
  [],
  [1],
  {},
  { a: 1 },
];

const settings = { META_DATA_CALLS_PER_MINUTE: "10000" };

describeWorld("reports of agents in odd forms", withSettings(openApi, settings), (api) => {
  it("end a job with the exit status that is meant", async () => {
    const steps = exitStatuses.map(() => ({ command: "make" }));
    const { build, agent, finish } = await enterJob(api, ...steps, { command: "last" });
    await finish();
    for (const [given, status] of exitStatuses) {
      const jobId = (await agent.offered()) as string;
      const { token } = await agent.begin(jobId);
      const answer = await agent.send("PUT", `/jobs/${jobId}/finish`, { exit_status: given }, token);
      assert.equal(answer.status, 200, `${JSON.stringify(given)}: ${answer.text}`);
      const job = (await build()).jobs.find(({ id }: { id: string }) => id === jobId);
      const state = status === 0 ? "passed" : "failed";
      assert.deepEqual([job.exit_status, job.state], [status, state], JSON.stringify(given));
    }
    // The log has one line a second of a kind.
    const [logged = ""] = api.world.logged.filter((line) => line.includes("an odd exit status"));
    const { given, exitStatus } = JSON.parse(logged);
    assert.deepEqual([given, exitStatus], ['"4294967296"', 4294967295]);
  });

  it("are matched by the rules of their step, * by any status but 0", async () => {
    for (const [rule, exit_status, isRetried] of [
      [3221225477, "3221225477", true],
      ["3221225786", 3221225786, true],
      [3221225477, "3221225786", false],
      ["*", "3221225477", true],
      ["*", "-1", true],
      [["*", 7], "-1073741819", true],
      ["*", "0", false],
    ] as const) {
      const retry = { automatic: [{ exit_status: rule, limit: 1 }] };
      const { build, job, send } = await enterJob(api, { command: "make", retry });
      await send("PUT", `/jobs/${job}/finish`, { exit_status });
      assert.equal((await build()).jobs[0].state === "scheduled", isRetried, `${rule} of ${exit_status}`);
    }
    const soft = await enterJob(api, { command: "make", soft_fail: [{ exit_status: 3221225477 }] });
    await soft.send("PUT", `/jobs/${soft.job}/finish`, { exit_status: "3221225477" });
    assert.equal((await soft.build()).state, "passed");
  });

  it("are never refused for the form of their other members", async () => {
    const { agent, job, send } = await enterJob(api, { command: "make" }, { command: "last" });
    const reports: [string, string, (value: unknown) => object][] = [
      ["PUT", `/jobs/${job}/start`, (value) => ({ started_at: value })],
      ["POST", `/jobs/${job}/header_times`, (value) => ({ header_times: value })],
      ["PUT", `/jobs/${job}/promise_failure`, (value) => ({ exit_status: value, reason: value })],
      ["PUT", `/jobs/${job}/artifacts`, (value) => ({ artifacts: [{ id: value, state: value }, value] })],
      ["PUT", `/jobs/${job}/artifacts`, (value) => ({ artifacts: [{ id: "x", multipart_etags: [value] }] })],
      [
        "POST",
        `/jobs/${job}/annotations`,
        (value) => ({ body: "b", style: value, priority: value, append: value, scope: value }),
      ],
    ];
    for (const context of [7, 0, true, "a\0b", "", null])
      assert.equal((await send("POST", `/jobs/${job}/annotations`, { body: "b", context })).status, 200);
    for (const value of oddValues) {
      for (const [method, path, body] of reports) {
        const { status, text } = await send(method, path, body(value));
        assert.ok(status < 300, `${path} ${JSON.stringify(value)}: ${status} ${text}`);
      }
      const heartbeat = await agent.send("POST", "/heartbeat", { sent_at: value });
      assert.equal(heartbeat.status, 200, heartbeat.text);
    }
    const ending = { signal: {}, signal_reason: 9, finished_at: [], chunks_failed_count: "x" };
    const more = { ignore_agent_in_dispatches: "true", exit_status: "1" };
    assert.equal((await send("PUT", `/jobs/${job}/finish`, { ...ending, ...more })).status, 200);
    assert.equal(await agent.offered(), undefined, "it takes no other job");
  });

  it("end a job in any encoding, and without an object", async () => {
    const report = JSON.stringify({ exit_status: "3" });
    const damaged = Buffer.concat([
      Buffer.from('{"exit_status":"3","signal":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const bodies: [string, string | Uint8Array<ArrayBuffer>, Record<string, string>, number][] = [
      ["a byte order mark", `\ufeff${report}`, {}, 3],
      ["UTF-16", Buffer.from(`\ufeff${report}`, "utf16le"), {}, 3],
      ["bytes that are no characters", damaged, {}, 3],
      ["gzip", gzipSync(report), { "Content-Encoding": "gzip" }, 3],
      ["a charset", report, { "Content-Type": "application/json; charset=ISO-8859-1" }, 3],
      ["an unknown charset", report, { "Content-Type": "application/json; charset=none" }, 3],
      ["a list", "[]", {}, -1],
      ["a text", '""', {}, -1],
      ["a number", "3", {}, -1],
    ];
    for (const [name, body, headers, exitStatus] of bodies) {
      const { build, job, token, agent } = await enterJob(api, { command: "make" });
      const report = async (method: string, path: string, token: string) => {
        const sent = { method, headers: { Authorization: `Token ${token}`, ...headers }, body };
        const { status } = await fetch(`${api.world.url}/v3${path}`, sent);
        assert.equal(status, 200, `${name}: ${path}`);
      };
      await report("POST", "/heartbeat", agent.token);
      await report("PUT", `/jobs/${job}/start`, token);
      await report("PUT", `/jobs/${job}/finish`, token);
      assert.equal((await build()).jobs[0].exit_status, exitStatus, name);
    }
  });

  it("end a job without a body", async () => {
    const { build, job, send } = await enterJob(api, { command: "make" });
    assert.equal((await send("PUT", `/jobs/${job}/finish`)).status, 200);
    assert.equal((await build()).jobs[0].exit_status, -1);
  });

  it("add pieces without a number or place to the end of the log", async () => {
    const { job, token, path } = await enterJob(api, { command: "make" });
    const sendChunk = async (query: string, text: string, encoding?: string) => {
      const { status } = await fetch(`${api.world.url}/v3/jobs/${job}/chunks?${query}`, {
        method: "POST",
        headers: {
          Authorization: `Token ${token}`,
          ...(encoding !== undefined && { "Content-Encoding": encoding }),
        },
        body: encoding?.toLowerCase().includes("zip") ? gzipSync(text) : text,
      });
      assert.equal(status, 200, query);
    };
    await sendChunk("sequence=1&offset=0&size=2", "a\n", "GZIP");
    await sendChunk("sequence=&offset=", "b\n", "");
    await sendChunk("sequence=-1&offset=x&size=x", "c\n", "x-gzip");
    await sendChunk("", "d\n", "identity");
    await sendChunk("sequence=one&offset=8", "e\n");
    await sendChunk("sequence=one&offset=8", "e\n");
    const { body } = await api.send("GET", `${path}/jobs/${job}/log`);
    assert.equal(body.content, "a\nb\nc\nd\ne\n");
  });

  it("add pieces that say gzip and are plain", async () => {
    const { job, token, path } = await enterJob(api, { command: "make" });
    const { status } = await fetch(`${api.world.url}/v3/jobs/${job}/chunks?sequence=1&offset=0`, {
      method: "POST",
      headers: { Authorization: `Token ${token}`, "Content-Encoding": "gzip" },
      body: "plain",
    });
    assert.equal(status, 200);
    assert.equal((await api.send("GET", `${path}/jobs/${job}/log`)).body.content, "plain");
  });

  it("set meta-data without a value, and with a number", async () => {
    const { send, job } = await enterJob(api, { command: "make" });
    const set = async (entry: object) => {
      assert.equal((await send("POST", `/jobs/${job}/data/set`, entry)).status, 200);
      return (await send("POST", `/jobs/${job}/data/get`, { key: "k" })).body.value;
    };
    assert.equal(await set({ key: "k", value: "v" }), "v");
    assert.equal(await set({ key: "k" }), "");
    assert.equal(await set({ key: "k", value: 7 }), "7");
    assert.equal(await set({ key: "k", value: null }), "");
    const batch = { items: [{ key: "k" }] };
    assert.equal((await send("POST", `/jobs/${job}/data/set-batch`, batch)).status, 200);
    assert.equal((await send("POST", `/jobs/${job}/data/exists`, { key: "k" })).body.exists, true);
  });
});
