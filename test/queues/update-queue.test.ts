import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openApi } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";

describeWorld("PUT and PATCH …/queues/{id}", openApi, (api) => {
  const update = (id: string, body: unknown, method = "PUT") =>
    api.send(method, `${api.queues}/${id}`, { body });
  const read = async (id: string) => (await api.send("GET", `${api.queues}/${id}`)).body;
  const refused = async (id: string, body: unknown, reason: string) => {
    const before = await read(id);
    const { status, body: answer } = await update(id, body);
    const message = `Validation failed: ${reason}`;
    assert.deepEqual([status, answer], [422, { message }], JSON.stringify(body).slice(0, 200));
    assert.deepEqual(await read(id), before);
  };

  describe("with hostedAgents", () => {
    const small = "LINUX_AMD64_2X4";
    const hosted = (instanceShape = small) => api.newQueue({ hostedAgents: { instanceShape } });
    const image = "registry.example.com/agents/node:24";

    it("refuses a self-hosted queue", async () => {
      const { id } = await api.newQueue();
      for (const hostedAgents of [{}, { instanceShape: small }, { instanceShape: "x", agentImageRef: "y" }])
        await refused(id, { hostedAgents }, "Queue is not hosted");
    });

    it("treats null as absent, and refuses values that are not objects", async () => {
      const [self, made] = [await api.newQueue(), await hosted()];
      for (const queue of [self, made]) {
        const { status, body } = await update(queue.id, { hostedAgents: null });
        assert.deepEqual([status, body], [200, queue]);
        for (const hostedAgents of ["x", 1, [], true])
          await refused(queue.id, { hostedAgents }, "Hosted agents must be an object");
      }
    });

    it("changes the size within machine type and architecture", async () => {
      for (const [from, to, cpu, memory] of [
        [small, "LINUX_AMD64_64X256", 64, 256],
        ["LINUX_ARM64_4X16", "LINUX_ARM64_2X4", 2, 4],
        ["MACOS_ARM64_M4_6X28", "MACOS_ARM64_M4_12X56", 12, 56],
      ] as const) {
        const { id } = await hosted(from);
        const { status, body } = await update(id, { hostedAgents: { instanceShape: to } });
        assert.equal(status, 200);
        const { name, ...shape } = body.hosted_agents.instance_shape;
        assert.deepEqual([name, shape.cpu, shape.memory], [to, cpu, memory]);
        assert.deepEqual(await read(id), body);
      }
    });

    it("keeps a Windows queue editable without the feature, but not its size", async () => {
      await api.features({ windows_hosted_agents: true });
      const { id } = await hosted("WINDOWS_AMD64_2X8");
      await api.features({ windows_hosted_agents: false });

      const same = { description: "d", hostedAgents: { instanceShape: "WINDOWS_AMD64_2X8" } };
      assert.equal((await update(id, same)).body.description, "d");
      const larger = { hostedAgents: { instanceShape: "WINDOWS_AMD64_4X16" } };
      await refused(id, larger, "Windows instance shapes are not available to this organization");
      const arm = { hostedAgents: { instanceShape: "LINUX_ARM64_2X4" } };
      await refused(id, arm, "Instance shape cannot be changed to LINUX_ARM64_2X4");
    });

    it("joins the reasons of members with the first one of the hosted part", async () => {
      const { id } = await hosted();
      const body = { description: 7, hostedAgents: { instanceShape: "x", agentImageRef: 7 } };
      const message =
        "Validation failed: Description must be text, Instance shape x is not a valid instance shape";
      assert.deepEqual((await update(id, body)).body, { message });
      const own = await api.newQueue();
      const two = { retry_agent_affinity: "x", hostedAgents: { instanceShape: small } };
      assert.deepEqual((await update(own.id, two)).body, {
        message:
          "Validation failed: Retry agent affinity must be prefer-warmest or prefer-different, Queue is not hosted",
      });
    });

    it("refuses a missing shape with a message that names no shape", async () => {
      const { id } = await hosted();
      for (const hostedAgents of [
        {},
        { instanceShape: null },
        { instanceShape: "" },
        { agentImageRef: image },
        { agentImageRef: 7 },
      ])
        await refused(id, { hostedAgents }, "Instance shape cannot be changed to ");
    });

    it("refuses another machine type or architecture, and names the requested shape", async () => {
      for (const [from, ...others] of [
        [small, "LINUX_ARM64_2X4", "MACOS_ARM64_M4_6X28", "WINDOWS_AMD64_2X8"],
        ["LINUX_ARM64_2X4", small, "MACOS_ARM64_M4_6X28", "WINDOWS_AMD64_2X8"],
        ["MACOS_ARM64_M4_6X28", small, "LINUX_ARM64_2X4", "WINDOWS_AMD64_2X8"],
      ] as const) {
        const { id } = await hosted(from);
        for (const to of others) {
          const hostedAgents = { instanceShape: to, agentImageRef: 7 };
          await refused(id, { hostedAgents }, `Instance shape cannot be changed to ${to}`);
        }
      }
    });

    it("refuses an image without the feature, but accepts the default image", async () => {
      const { id } = await hosted();
      await refused(
        id,
        { hostedAgents: { instanceShape: small, agentImageRef: image } },
        "Custom agent images are not available to this organization",
      );
      for (const agentImageRef of [null, "", " \n\t"])
        assert.equal(
          (await update(id, { hostedAgents: { instanceShape: small, agentImageRef } })).status,
          200,
        );
    });

    it("refuses an image on macOS and Windows, with or without the feature", async () => {
      await api.features({ windows_hosted_agents: true });
      const platforms = [
        ["MACOS_ARM64_M4_6X28", "mac"],
        ["WINDOWS_AMD64_2X8", "windows"],
      ] as const;
      for (const [instanceShape, word] of platforms) {
        const { id } = await hosted(instanceShape);
        for (const custom_agent_images of [true, false]) {
          await api.features({ custom_agent_images });
          await refused(
            id,
            { hostedAgents: { instanceShape, agentImageRef: image } },
            `Agent image ref cannot be configured for hosted ${word} queues`,
          );
          const blank = await update(id, { hostedAgents: { instanceShape, agentImageRef: " " } });
          assert.equal(blank.status, 200);
        }
      }
      await api.features({ windows_hosted_agents: false });
    });

    it("sets an image with a shape, keeps it, and resets it to the default", async () => {
      await api.features({ custom_agent_images: true });
      const { id } = await hosted();
      const imageOf = (queue: Awaited<ReturnType<typeof read>>) =>
        queue.hosted_agents.platform_settings.linux.agent_image_ref;

      const set = await update(id, {
        hostedAgents: { instanceShape: "LINUX_AMD64_4X16", agentImageRef: image },
      });
      assert.equal(set.status, 200);
      assert.equal(imageOf(set.body), image);
      assert.equal(set.body.hosted_agents.instance_shape.name, "LINUX_AMD64_4X16");
      const kept = await update(id, { hostedAgents: { instanceShape: small }, description: "d" });
      assert.equal(imageOf(kept.body), image);

      await api.features({ custom_agent_images: false });
      assert.equal(imageOf(await read(id)), image);
      const cleared = await update(id, { hostedAgents: { instanceShape: small, agentImageRef: "  " } });
      assert.equal(imageOf(cleared.body), null);
      assert.equal(imageOf(await read(id)), null);
    });

    it("accepts an image name of at most 1,000 characters", async () => {
      await api.features({ custom_agent_images: true });
      const { id } = await hosted();
      const set = (agentImageRef: unknown) => ({ hostedAgents: { instanceShape: small, agentImageRef } });
      assert.equal((await update(id, set("i".repeat(1000)))).status, 200);
      await refused(id, set("i".repeat(1001)), "Agent image ref is too long (maximum is 1,000 characters)");
      for (const value of [7, {}, [], true, "a\u0000"])
        await refused(id, set(value), "Agent image ref must be text");
      await api.features({ custom_agent_images: false });
    });

    it("changes nothing when one member is refused", async () => {
      const { id } = await hosted();
      await refused(
        id,
        { description: "new", hostedAgents: { instanceShape: "LINUX_ARM64_2X4" } },
        "Instance shape cannot be changed to LINUX_ARM64_2X4",
      );
    });

    it("ignores any affinity of a hosted queue", async () => {
      const made = await hosted();
      for (const value of ["prefer-different", "x", 7, null]) {
        const { status, body } = await update(made.id, { retry_agent_affinity: value });
        assert.deepEqual([status, body], [200, made]);
      }
    });
  });
});
