import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shapes } from "../../shared/queues/shapes.ts";
import { base, graphqlId, openApi, timestamp, unique, webBase } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";

const removed = ["MACOS_M2_4X7", "MACOS_M2_6X14", "MACOS_M2_12X28", "MACOS_M4_12X56"];
const charset = "Key can only contain letters, numbers, hyphens and underscores";
const tooLong = "Key is too long (maximum is 100 characters)";
const affinity = "Retry agent affinity must be prefer-warmest or prefer-different";

describeWorldOn(sqlite, "POST …/queues", openApi, (api) => {
  const create = (body: unknown) => api.send("POST", api.queues, { body });
  const refused = async (body: unknown, ...reasons: string[]) => {
    const { status, body: answer } = await create(body);
    const message = `Validation failed: ${reasons.join(", ")}`;
    assert.deepEqual([status, answer], [422, { message }], JSON.stringify(body).slice(0, 200));
  };

  it("creates a self-hosted queue without members of a hosted queue", async () => {
    const { status, body } = await create({
      key: "linux-x86_64",
      description: "Build machines",
      retry_agent_affinity: "prefer-different",
      unknown: { a: 1 },
      id: "mine",
      dispatch_paused: true,
    });

    assert.equal(status, 201);
    const { id, created_at, ...rest } = body;
    assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.match(created_at, timestamp);
    const { admin, acme } = api;
    assert.partialDeepStrictEqual(rest, {
      graphql_id: graphqlId("ClusterQueue", id),
      key: "linux-x86_64",
      description: "Build machines",
      url: `${base}/clusters/${acme.cluster.id}/queues/${id}`,
      web_url: `${webBase}/clusters/${acme.cluster.id}/queues/${id}`,
      cluster_url: `${base}/clusters/${acme.cluster.id}`,
      retry_agent_affinity: "prefer-different",
      dispatch_paused: false,
      dispatch_paused_by: null,
      dispatch_paused_at: null,
      dispatch_paused_note: null,
      created_by: {
        id: admin.id,
        graphql_id: graphqlId("User", admin.id),
        name: "Person",
        email: admin.email,
        avatar_url: "https://app.example.com/avatars/P.svg",
        created_at: admin.createdAt.toISOString(),
      },
    });
    for (const name of ["unknown", "hosted", "hosted_agents"]) assert.equal(name in body, false);
    assert.deepEqual((await api.send("GET", `${api.queues}/${id}`)).body, body);
  });

  it("defaults to the warmest agents, and counts characters, not bytes", async () => {
    const description = "é".repeat(2000);
    const { body } = await create({ key: unique("q"), description });
    assert.deepEqual([body.retry_agent_affinity, body.description], ["prefer-warmest", description]);
  });

  it("treats null for hostedAgents as absent", async () => {
    const { status, body } = await create({ key: unique("q"), hostedAgents: null });
    assert.deepEqual([status, "hosted" in body, "hosted_agents" in body], [201, false, false]);
  });

  it("refuses other characters in a key", async () => {
    for (const key of ["a b", "a.b", "é", "a\n", "\u0000", "\ud800", " ", "__proto__ "])
      await refused({ key }, charset);
    assert.equal((await create({ key: "Linux:arm_64-2" })).status, 201);
  });

  it("joins the reasons of all members", async () => {
    await refused({ key: " ".repeat(101) }, tooLong, charset);
    await refused(
      { key: "a b", description: "d".repeat(2001), retry_agent_affinity: "x" },
      charset,
      "Description is too long (maximum is 2,000 characters)",
      affinity,
    );
    await api.newQueue({ key: "joined" });
    await refused(
      { key: "joined", description: 1, hostedAgents: { instanceShape: "WINDOWS_AMD64_2X8" } },
      "Description must be text",
      "Key has already been taken",
      "Windows instance shapes are not available to this organization",
    );
    await refused(
      { key: "joined", hostedAgents: { instanceShape: "WINDOWS_AMD64_2X8" } },
      "Key has already been taken",
      "Windows instance shapes are not available to this organization",
    );
    await refused(
      { description: 1, hostedAgents: {} },
      "Key can't be blank",
      "Description must be text",
      "Instance shape can't be blank",
    );
  });

  it("refuses a taken key; keys are case-sensitive", async () => {
    await api.newQueue({ key: "taken" });
    await refused({ key: "taken" }, "Key has already been taken");
    assert.equal((await create({ key: "TAKEN" })).status, 201);
    const elsewhere = await api.newCluster();
    assert.equal((await api.newQueue({ key: "taken" }, elsewhere.id)).key, "taken");
  });

  it("frees the key of a deleted queue", async () => {
    const { id } = await api.newQueue({ key: "again" });
    await api.send("DELETE", `${api.queues}/${id}`);
    assert.notEqual((await api.newQueue({ key: "again" })).id, id);
  });

  it("refuses other affinities, and descriptions that cannot be stored", async () => {
    for (const value of ["", "PREFER-WARMEST", null, ["prefer-warmest"]])
      await refused({ key: unique("q"), retry_agent_affinity: value }, affinity);
    for (const value of ["a\u0000", "\udc00"])
      await refused({ key: unique("q"), description: value }, "Description must be text without NUL");
  });

  describe("with hostedAgents", () => {
    const hosted = (hostedAgents: unknown, more = {}) => ({ key: unique("q"), hostedAgents, ...more });

    it("creates a hosted queue of every shape", async () => {
      await api.features({ windows_hosted_agents: true });
      for (const { name, machineType, architecture, cpu, memoryGb } of shapes) {
        const { status, body } = await create(hosted({ instanceShape: name }));
        assert.equal(status, 201, name);
        assert.equal(body.hosted, true);
        assert.equal("retry_agent_affinity" in body, false);
        assert.deepEqual(body.hosted_agents, {
          instance_shape: { machine_type: machineType, architecture, cpu, memory: memoryGb, name },
          platform_settings: machineType === "linux" ? { linux: { agent_image_ref: null } } : {},
        });
        await api.send("DELETE", `${api.queues}/${body.id}`);
      }
      assert.equal(shapes.length, 18);
      await api.features({ windows_hosted_agents: false });
    });

    it("ignores an agentImageRef and any affinity", async () => {
      const { status, body } = await create(
        hosted(
          { instanceShape: "LINUX_AMD64_2X4", agentImageRef: "ghcr.io/a/b" },
          { retry_agent_affinity: 7 },
        ),
      );
      assert.equal(status, 201);
      assert.equal(body.hosted_agents.platform_settings.linux.agent_image_ref, null);
      assert.equal("retry_agent_affinity" in body, false);
    });

    it("refuses a value that is not an object", async () => {
      for (const value of ["x", 1, true, [], [{ instanceShape: "LINUX_AMD64_2X4" }]])
        await refused(hosted(value), "Hosted agents must be an object");
    });

    it("refuses a shape that is missing, unknown or removed", async () => {
      for (const given of [{}, { instanceShape: null }, { instanceShape: "" }])
        await refused(hosted(given), "Instance shape can't be blank");
      const unknown = ["linux_amd64_2x4", "LINUX_AMD64_2X4 ", "constructor", "__proto__", 7, true];
      for (const instanceShape of [...unknown, ...removed])
        await refused(
          hosted({ instanceShape }),
          `Instance shape ${instanceShape} is not a valid instance shape`,
        );
    });

    it("repeats at most 100 whole characters of a shape", async () => {
      for (const [instanceShape, told] of [
        ["x".repeat(100), "x".repeat(100)],
        ["x".repeat(300_000), `${"x".repeat(100)}…`],
        [`${"x".repeat(99)}🚦🚦`, `${"x".repeat(99)}…`],
        ["a\ud800", "a\ufffd"],
      ] as const)
        await refused(hosted({ instanceShape }), `Instance shape ${told} is not a valid instance shape`);
    });

    it("refuses a shape that is not a string", async () => {
      const deep = JSON.parse("[".repeat(50_000) + "]".repeat(50_000));
      for (const instanceShape of [
        { toString: 1 },
        { toString: null, valueOf: null },
        {},
        ["LINUX_AMD64_2X4"],
      ])
        await refused(hosted({ instanceShape }), "Instance shape must be text");
      assert.equal(deep.length, 1);
      const raw = `{"key":"deep","hostedAgents":{"instanceShape":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`;
      const answer = await api.send("POST", api.queues, {
        raw,
        headers: { "Content-Type": "application/json" },
      });
      assert.deepEqual([answer.status, answer.body], [400, { message: "Body is nested too deeply" }]);
    });

    it("refuses Windows to an organization without the feature", async () => {
      for (const { name } of shapes.filter(({ machineType }) => machineType === "windows"))
        await refused(
          hosted({ instanceShape: name }),
          "Windows instance shapes are not available to this organization",
        );
    });
  });
});
