import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { before, it } from "node:test";
import { agentTokenOf, startAgent } from "../../helpers/agent.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { type Hosts, openHosts, type Taken } from "./open-hosts.ts";

const repository = "https://github.com/acme/site.git";
const ofFork = {
  is_fork: true as const,
  pull_request: { id: "7", is_fork: true, repository: "https://github.com/eve/site.git" },
};
const report = (hosts: Hosts, slug: string) =>
  hosts.report(slug, { branch: "eve:main", author: { username: "eve" }, options: ofFork });
const newPipeline = (hosts: Hosts, ...steps: object[]) =>
  hosts.newPipeline(steps.length > 0 ? steps : [{ command: "make", key: "make" }], { repository });

/** The ways by which code of a fork comes to a running job. Each lets the next job that waits be of the fork. */
const ways: Record<string, (hosts: Hosts) => Promise<unknown>> = {
  "its build": async (hosts) => report(hosts, await newPipeline(hosts)),
  "a retry by a member": async (hosts) => {
    const path = await report(hosts, await newPipeline(hosts));
    await hosts.run(1);
    const [{ id }] = (await hosts.must("GET", path)).jobs;
    await hosts.must("PUT", `${path}/jobs/${id}/retry`);
  },
  "a retry by its rules": async (hosts) => {
    await report(hosts, await newPipeline(hosts, { command: "make", retry: { automatic: true } }));
    await hosts.run(1);
  },
  "a rebuild by a member": async (hosts) => {
    const path = await report(hosts, await newPipeline(hosts));
    await hosts.run();
    await hosts.must("PUT", `${path}/rebuild`);
  },
  "a rebuild of a rebuild": async (hosts) => {
    const path = await report(hosts, await newPipeline(hosts));
    await hosts.run();
    await hosts.must("PUT", `${path}/rebuild`);
    await hosts.run();
    await hosts.must("PUT", `${path.replace(/\d+$/, "2")}/rebuild`);
  },
  "a job that it uploads": async (hosts) => {
    await report(hosts, await newPipeline(hosts));
    const taken = await hosts.take();
    assert.equal((await hosts.upload(taken, { command: "more" })).status, 200);
    await hosts.finish(taken);
  },
  "a job behind a step that a member unblocks": async (hosts) => {
    const path = await report(hosts, await newPipeline(hosts, { block: "Go" }, { command: "make" }));
    const [{ id }] = (await hosts.must("GET", path)).jobs;
    await hosts.must("PUT", `${path}/jobs/${id}/unblock`, { body: {} });
  },
  "a build that it triggers": async (hosts) => {
    const child = await newPipeline(hosts);
    await report(hosts, await newPipeline(hosts, { trigger: child }));
  },
  "a build of another repository that it triggers": async (hosts) => {
    const child = await hosts.newPipeline([{ command: "deploy" }], {
      repository: "https://github.com/acme/b.git",
    });
    await report(hosts, await newPipeline(hosts, { trigger: child, build: { branch: "main" } }));
  },
  "a build that it triggers, with variables that deny it": async (hosts) => {
    const child = await newPipeline(hosts);
    const env = { BUILDKITE_PULL_REQUEST: "false", BUILDKITE_PULL_REQUEST_REPO: repository };
    await report(hosts, await newPipeline(hosts, { trigger: child, build: { env } }));
  },
  "a build at the end of a chain": async (hosts) => {
    const last = await newPipeline(hosts);
    const middle = await newPipeline(hosts, { trigger: last });
    await report(hosts, await newPipeline(hosts, { trigger: middle, async: true }));
  },
  "a build of a trigger step that a member retries": async (hosts) => {
    const child = await newPipeline(hosts);
    const path = await report(hosts, await newPipeline(hosts, { trigger: child }));
    await hosts.run(1);
    const [{ id }] = (await hosts.must("GET", path)).jobs;
    await hosts.must("PUT", `${path}/jobs/${id}/retry`);
  },
  "a rebuild of a build that it triggers": async (hosts) => {
    const child = await newPipeline(hosts);
    await report(hosts, await newPipeline(hosts, { trigger: child, build: { commit: "HEAD" } }));
    await hosts.run();
    await hosts.must("PUT", `/pipelines/${child}/builds/1/rebuild`);
  },
};

describeWorld("builds of forks", openHosts, (hosts) => {
  let key: string;
  let elsewhere: string;

  before(async () => {
    const { api } = hosts;
    key = "DEPLOY_KEY";
    const body = { key, value: "swordfish" };
    await hosts.must("POST", `/clusters/${api.acme.cluster.id}/secrets`, { body });
    elsewhere = (await api.newQueue()).key;
  });

  const expectStranger = async (taken: Taken) => {
    const { job, env } = taken;
    const place = `/pipelines/${env.BUILDKITE_PIPELINE_SLUG}/builds/${env.BUILDKITE_BUILD_NUMBER}`;
    assert.equal((await hosts.must("GET", place)).fork, true);
    const { creator } = await hosts.must("GET", place);
    assert.equal(env.BUILDKITE_BUILD_CREATOR_EMAIL, undefined, `of ${creator?.email}`);

    for (const name of [key, "NOTHING"]) {
      const secret = await hosts.call("GET", `/jobs/${job}/secrets?key=${name}`, taken);
      const message = "The build comes from a fork: its jobs get no secrets";
      assert.deepEqual([secret.status, secret.body], [403, { message }]);
    }
    const token = await hosts.call("POST", `/jobs/${job}/oidc/tokens`, taken, {});
    const message = "The build comes from a fork: its jobs get no identity tokens";
    assert.deepEqual([token.status, token.body], [403, { message }]);

    const other = await hosts.upload(taken, { command: "a" }, { command: "b", agents: { queue: elsewhere } });
    assert.equal(other.status, 422);
    assert.match(other.body.message, /^The build comes from a fork: it cannot upload steps to the queue /);

    const asked = [
      {
        label: "fork",
        command: "a",
        if: "build.pull_request.repository.fork && build.creator.email == null",
      },
      { label: "other", command: "b", if: "!build.pull_request.repository.fork" },
    ];
    assert.equal(
      (await hosts.upload(taken, { group: "G", key: randomUUID().slice(1), steps: asked })).status,
      200,
    );
    const { jobs } = await hosts.must("GET", place);
    const stateOf = (label: string) => jobs.find(({ name }: { name: string }) => name === label)?.state;
    assert.notEqual(stateOf("fork"), "broken");
    assert.equal(stateOf("other"), "broken");

    const step = { idempotency_uuid: randomUUID(), build_id: env.BUILDKITE_BUILD_ID };
    const notify = { ...step, attribute: "notify", value: '[{"email": "all@example.com"}]' };
    const path = `/steps/${env.BUILDKITE_STEP_ID}`;
    assert.equal((await hosts.call("PUT", path, taken, notify)).status, 200);
    const kept = await hosts.call("POST", `${path}/export`, taken, { ...step, attribute: "notify" });
    assert.deepEqual([kept.status, kept.body.output], [200, ""]);
  };

  for (const [way, enter] of Object.entries(ways))
    it(`let ${way} see no secrets, and do nothing that strangers may not`, async () => {
      await enter(hosts);
      const taken = await hosts.take();
      await expectStranger(taken);
      await hosts.finish(taken);
      await hosts.drain();
    });

  it("are forks whatever their pipeline's members do, and others are none", async () => {
    const slug = await newPipeline(hosts);
    await hosts.report(slug, { options: { pull_request: { id: "7", is_fork: false } } });
    const taken = await hosts.take();
    assert.equal((await hosts.call("GET", `/jobs/${taken.job}/secrets?key=${key}`, taken)).status, 200);
    assert.equal((await hosts.call("POST", `/jobs/${taken.job}/oidc/tokens`, taken, {})).status, 200);
    assert.equal((await hosts.upload(taken, { command: "b", agents: { queue: elsewhere } })).status, 200);
    await hosts.finish(taken);
    await hosts.must("PUT", `/pipelines/${slug}/builds/1/cancel`);
  });

  it("fail jobs whose checkout needs a secret", async () => {
    const slug = await newPipeline(hosts, { command: "make", checkout: { ssh_secret: key } });
    await report(hosts, slug);
    const job = await hosts.agent.offered();
    const { status, body, text } = await hosts.agent.send("PUT", `/jobs/${job}/accept`);
    assert.equal(status, 422);
    assert.match(body.message, /needs the secret DEPLOY_KEY, and builds of forks get no secrets/);
    assert.doesNotMatch(text, /swordfish/);
    await hosts.settle();
    assert.equal((await hosts.states(slug))[0], "failed");
  });

  it("name the secrets of steps, which agents cannot read", async () => {
    await report(hosts, await newPipeline(hosts, { command: "make", secrets: [key] }));
    const job = (await hosts.agent.offered()) as string;
    const accepted = await hosts.agent.send("PUT", `/jobs/${job}/accept`);
    assert.doesNotMatch(accepted.text, /swordfish/);
    const read = await hosts.agent.send(
      "GET",
      `/jobs/${job}/secrets?key=${key}`,
      undefined,
      accepted.body.token,
    );
    assert.equal(read.status, 403);
    await hosts.finish({ job, token: accepted.body.token, env: {} }, 1);
  });

  it("upload to the queues of the stored steps alone, of each value of a matrix too", async () => {
    const matrix = { command: "m", matrix: [elsewhere], agents: { queue: "{{matrix}}" } };
    const slug = await newPipeline(hosts);
    await report(hosts, slug);
    const taken = await hosts.take();
    assert.equal((await hosts.upload(taken, matrix)).status, 422);
    assert.equal((await hosts.upload(taken, { group: "G", steps: [matrix] })).status, 422);
    assert.equal((await hosts.upload(taken, { ...matrix, if: "false" })).status, 200);
    const steps = [{ command: "make" }, { command: "b", agents: { queue: elsewhere }, if: "false" }];
    await hosts.must("PATCH", `/pipelines/${slug}`, { body: { steps } });
    assert.equal((await hosts.upload(taken, matrix)).status, 200);
    await hosts.finish(taken);
    await hosts.must("PUT", `/pipelines/${slug}/builds/1/cancel`);
  });

  it("upload no trigger steps, which would reach the queues of other pipelines", async () => {
    const child = await newPipeline(hosts);
    await report(hosts, await newPipeline(hosts));
    const taken = await hosts.take();
    const { status, body } = await hosts.upload(taken, { trigger: child, build: { branch: "main" } });
    const message = "The build comes from a fork: it cannot upload steps that trigger builds";
    assert.deepEqual([status, body], [422, { message }]);
    assert.equal((await hosts.upload(taken, { trigger: child, if: "false" })).status, 200);
    await hosts.finish(taken);
    assert.deepEqual(await hosts.builds(child), []);
  });

  it("upload and set priorities up to the highest of the stored steps", async () => {
    const low = await newPipeline(hosts, { command: "make", priority: -3 });
    const high = await newPipeline(hosts, { command: "make" }, { command: "b", priority: 7, if: "false" });
    for (const [slug, most] of [
      [low, 0],
      [high, 7],
    ] as const) {
      await report(hosts, slug);
      const taken = await hosts.take();
      const upload = (priority: number, others: object = {}) =>
        hosts.upload(taken, { group: "G", steps: [{ command: "a", priority, ...others }] });
      const refused = await upload(most + 1);
      const limit = `The steps of its pipeline allow ${most}`;
      const message = `The build comes from a fork: it cannot upload steps of the priority ${most + 1}. ${limit}`;
      assert.deepEqual([refused.status, refused.body], [422, { message }]);
      assert.equal((await upload(most + 1, { if: "false" })).status, 200);
      assert.equal((await upload(most)).status, 200);

      const set = (value: number) =>
        hosts.call("PUT", `/steps/${taken.env.BUILDKITE_STEP_ID}`, taken, {
          idempotency_uuid: randomUUID(),
          build_id: taken.env.BUILDKITE_BUILD_ID,
          attribute: "priority",
          value: String(value),
        });
      const unset = await set(most + 1);
      const own = `The build comes from a fork: the steps of its pipeline allow the priority ${most}`;
      assert.deepEqual([unset.status, unset.body], [400, { message: own }]);
      assert.equal((await set(most)).status, 200);
      await hosts.finish(taken);
      await hosts.must("PUT", `/pipelines/${slug}/builds/1/cancel`);
    }
  });

  it("upload to concurrency groups as the stored steps do", async () => {
    const group = `deploy-${randomUUID()}`;
    const limited = { command: "b", concurrency: 2, concurrency_group: group };
    const slug = await newPipeline(hosts, { command: "make" }, { ...limited, if: "false" });
    await report(hosts, slug);
    const taken = await hosts.take();
    for (const change of [
      { concurrency_group: `${group}-other` },
      { concurrency: 1 },
      { concurrency: 100 },
      { concurrency_method: "eager" },
    ]) {
      const { status, body } = await hosts.upload(taken, { ...limited, ...change });
      assert.equal(status, 422, JSON.stringify(change));
      assert.match(
        body.message,
        /^The build comes from a fork: it cannot upload steps of the concurrency gr/,
      );
    }
    assert.equal((await hosts.upload(taken, { ...limited, concurrency: 1, if: "false" })).status, 200);
    assert.equal((await hosts.upload(taken, limited)).status, 200);
    await hosts.finish(taken);
    await hosts.must("PUT", `/pipelines/${slug}/builds/1/cancel`);
  });

  it("end no older builds of a branch of the same name, nor do these end them", async () => {
    const cancels = { skip_queued_branch_builds: true, cancel_running_branch_builds: true };
    const slug = await hosts.newPipeline([{ command: "make" }], { repository, ...cancels });
    const states = async () => (await hosts.builds(slug)).map(({ state }: { state: string }) => state);
    await hosts.report(slug, { branch: "main" });
    await hosts.report(slug, { branch: "main", options: ofFork });
    await hosts.report(slug, { branch: "main" });
    assert.deepEqual(await states(), ["scheduled", "scheduled", "skipped"]);
    await hosts.report(slug, { branch: "main", options: ofFork });
    assert.deepEqual(await states(), ["scheduled", "scheduled", "skipped", "skipped"]);
    await hosts.drain();
  });

  it("reach no builds of others, and those of their own chain", async () => {
    const child = await newPipeline(hosts);
    const slug = await newPipeline(hosts, { command: "make" }, { trigger: child, async: true });
    const victim = await hosts.build(await newPipeline(hosts, { block: "Go" }));
    await report(hosts, slug);
    const taken = await hosts.take();
    const { id: own } = await hosts.show(child);
    const search = (id: string) => hosts.call("GET", `/builds/${id}/artifacts/search?query=*`, taken);
    assert.equal((await search(victim.id)).status, 404);
    assert.equal((await hosts.call("POST", `/builds/${victim.id}/cancel`, taken)).status, 404);
    assert.equal((await search(own)).status, 200);
    await hosts.finish(taken);
    await hosts.drain();
  });

  it("make no builds by the token of their job", async () => {
    const slug = await newPipeline(hosts);
    await report(hosts, slug);
    const taken = await hosts.take();
    for (const token of [taken.token, hosts.agent.token]) {
      const made = await hosts.send("POST", `/pipelines/${slug}/builds`, { token, body: {} });
      assert.equal(made.status, 401);
      const again = await hosts.send("PUT", `/pipelines/${slug}/builds/1/rebuild`, { token });
      assert.equal(again.status, 401);
    }
    await hosts.finish(taken);
  });

  it("do not get what an agent of another queue would read for them", async () => {
    const { api } = hosts;
    const registration = await agentTokenOf(api.world, api.acme.cluster);
    await report(hosts, await newPipeline(hosts));
    const other = await startAgent(api.world.url, registration, { meta_data: [`queue=${elsewhere}`] });
    const taken = await hosts.take();
    const read = await other.send("GET", `/jobs/${taken.job}/secrets?key=${key}`);
    assert.equal(read.status, 404);
    await hosts.finish(taken);
  });
});
