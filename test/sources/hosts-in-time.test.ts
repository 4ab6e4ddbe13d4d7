import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { tasksOfBuilds } from "../../shared/builds/task-handlers.ts";
import { dayMs, minuteMs } from "../../shared/durations.ts";
import { oldOpenRequests } from "../../shared/sources/open-requests.ts";
import { decideAndBuild } from "../../shared/triggers/deliveries/build.ts";
import { lockIfWaiting } from "../../shared/triggers/deliveries/due-store.ts";
import type { EvaluationResult } from "../../shared/triggers/filter/evaluate.ts";
import { openFilterEvaluator } from "../../shared/triggers/filter/evaluator.ts";
import { decideDue, doTasks } from "../helpers/builds.ts";
import { describeWorld } from "../helpers/databases.ts";
import { addPerson } from "../helpers/organization.ts";
import { githubFork, githubGroup, githubPush, githubRequest } from "./github-payloads.ts";
import { openHostWorld } from "./host-world.ts";
import { base, bitbucketChange, bitbucketPush, gitlabFork, gitlabRequest, sha, zeros } from "./payloads.ts";

const gone = (name: string) => ({
  ...githubPush({ ref: `refs/heads/${name}`, after: zeros, deleted: true }),
  head_commit: null,
});
const pushTo = (name: string, change: object = {}) => githubPush({ ref: `refs/heads/${name}`, ...change });
/** An event that is read on a thread. */
const long = (event: object) => ({ ...event, padding: "x".repeat(16 * 1024) });
const manyChanges = (count: number) =>
  bitbucketPush(
    ...Array.from({ length: count }, (_, index) => {
      const change = bitbucketChange();
      return { ...change, new: { ...change.new, name: `branch-${index}` } };
    }),
  );

describeWorld("builds of what hosts report", openHostWorld, (world) => {
  const services = () => world.world.services;
  const work = () => doTasks(services(), tasksOfBuilds);
  const statesOf = (builds: { branch: string; state: string }[]) =>
    builds.map(({ branch, state }) => `${branch} ${state}`);

  it("have the facts of their event", async () => {
    const { send } = await world.provider("github");
    const [build] = await world.buildsOf(
      await send("pull_request", githubRequest("labeled", {}, { label: { name: "speed" } })),
    );
    assert.equal(build, undefined);

    const labels = await world.provider("github", { build_pull_request_labels_changed: true });
    const event = githubRequest("labeled", {}, { label: { name: "speed" } });
    const [labeled] = await world.buildsOf(await labels.send("pull_request", event));
    assert.deepEqual(labeled?.options, {
      pull_request: {
        id: "42",
        title: "Make it faster",
        base_branch: "main",
        draft: false,
        is_fork: false,
        url: "https://github.com/acme/app/pull/42",
        author: { username: "ada" },
        repository: "https://github.com/acme/app.git",
        labels: ["speed"],
        label: "speed",
      },
      url: "https://github.com/acme/app/pull/42",
    });
    const { message, source, creatorId, author, rebuild, position } = labeled;
    assert.deepEqual(
      { message, source, creatorId, author, rebuild, position },
      {
        message: "Make it faster",
        source: "webhook",
        creatorId: null,
        author: { username: "ada" },
        rebuild: 0,
        position: 0,
      },
    );
  });

  it("are marked if they are a fork's, and have no creator", async () => {
    const { email } = await addPerson(world.world, world.acme);
    const { send } = await world.provider("gitlab", { build_pull_request_forks: true });
    const last_commit = { id: sha, author: { name: "Ada", email } };
    const [build] = await world.buildsOf(
      await send("Merge Request Hook", gitlabRequest({ ...gitlabFork, last_commit })),
    );
    assert.equal(build?.options?.is_fork, true);
    assert.equal(build.options.pull_request?.is_fork, true);
    assert.deepEqual(build.author, { name: "Ada", email });
    assert.equal(build.creatorId, null);
  });

  it("have the base of their merge group, and their tag", async () => {
    const { send } = await world.provider("github", {
      build_merge_group_checks_requested: true,
      build_tags: true,
    });
    const [group] = await world.buildsOf(await send("merge_group", githubGroup("checks_requested")));
    assert.deepEqual(group?.options, { merge_queue: { base_branch: "main", base_commit: base } });
    const [tag] = await world.buildsOf(await send("push", githubPush({ ref: "refs/tags/v1" })));
    assert.equal(tag?.options?.tag, "v1");
  });

  it("are their author's, if it is an active member's address", async () => {
    const { db } = services();
    const { users } = db.tables;
    const member = await addPerson(world.world, world.acme);
    const { send } = await world.provider("github");
    const creatorOf = async (email: string) => {
      const [build] = await world.buildsOf(
        await send("push", githubPush({}, { author: { name: "A", email } })),
      );
      return build?.creatorId;
    };
    assert.equal(await creatorOf(member.email.toUpperCase()), member.id);
    assert.equal(await creatorOf("stranger@example.com"), null);
    await db.transaction(async (tx) => {
      await tx.update(users).set({ deactivatedAt: tx.now }).where(eq(users.id, member.id));
    });
    assert.equal(await creatorOf(member.email), null);
  });

  it("of later pushes have the facts of the newest open request of their branch", async () => {
    const { send, openRequests } = await world.provider("github");
    const requestOf = async (commit: string) => {
      const event = pushTo("faster", { after: commit });
      const [build] = await world.buildsOf(
        await send("push", { ...event, head_commit: { ...event.head_commit, id: commit } }),
      );
      assert.equal(build?.commit, commit);
      return build.options?.pull_request;
    };
    assert.equal(await requestOf(base), undefined);
    await send("pull_request", githubRequest("opened", { number: 41, title: "Older" }));
    await send("pull_request", githubRequest("opened"));
    await send("pull_request", githubRequest("opened", { ...githubFork, number: 43 }));
    await send("pull_request", githubRequest("edited", { title: "Make it fast" }));
    assert.deepEqual(
      (await openRequests()).map(({ number }) => number),
      [41, 42],
    );
    const facts = await requestOf(base);
    assert.deepEqual([facts?.id, facts?.title, facts?.is_fork], ["42", "Make it fast", false]);

    await send("pull_request", githubRequest("closed", { state: "closed" }));
    assert.equal((await requestOf(base))?.id, "41");
    await send("pull_request", githubRequest("closed", { number: 41, state: "closed" }));
    assert.equal(await requestOf(base), undefined);
    assert.deepEqual(await openRequests(), []);
  });

  it("have the facts of a request that one transaction reads before them", async () => {
    const { post, pipeline } = await world.provider("github");
    await post("pull_request", githubRequest("opened"));
    const pushed = await post("push", pushTo("faster"));
    await post("pull_request", githubRequest("closed", { state: "closed" }));
    const later = await post("push", pushTo("faster"));
    await world.work();
    const [first] = await world.buildsOf(pushed);
    const [second] = await world.buildsOf(later);
    assert.equal(first?.options?.pull_request?.id, "42");
    assert.equal(second?.options?.pull_request, undefined);
    assert.equal(first.pipelineId, pipeline.id);
  });

  it("keep open requests for 30 days, or as long as the pipeline", async () => {
    const { send, openRequests, pipeline } = await world.provider("github");
    const clock = (days: number) => ({
      ...services(),
      clock: { ...services().clock, now: () => new Date(Date.now() + days * dayMs) },
    });
    await send("pull_request", githubRequest("opened"));
    await oldOpenRequests.purge(clock(29));
    assert.equal((await openRequests()).length, 1);
    await oldOpenRequests.purge(clock(31));
    assert.equal((await openRequests()).length, 0);

    await send("pull_request", githubRequest("opened"));
    assert.equal((await openRequests()).length, 1);
    await world.send("PUT", `/pipelines/${pipeline.slug}/builds/1/cancel`);
    const deleted = await world.send("DELETE", `/pipelines/${pipeline.slug}`);
    assert.equal(deleted.status, 204, deleted.text);
    assert.equal((await openRequests()).length, 0);
  });

  it("are one for each change of a push, in their order", async () => {
    const { send, builds } = await world.provider("bitbucket");
    await send("repo:push", manyChanges(3));
    assert.deepEqual(
      (await builds()).map(({ number, branch, position }) => [number, branch, position]),
      [
        [1, "branch-0", 0],
        [2, "branch-1", 1],
        [3, "branch-2", 2],
      ],
    );
  });

  it("are 20 of a push with 500 changes", async () => {
    const { send, builds } = await world.provider("bitbucket");
    await send("repo:push", manyChanges(500));
    assert.equal((await builds()).length, 20);
  });

  it("are those changes of a push that are wanted", async () => {
    const { send } = await world.provider("bitbucket");
    const mixed = bitbucketPush(
      bitbucketChange({ new: null }),
      bitbucketChange({ new: { ...bitbucketChange().new, type: "tag" } }),
      bitbucketChange(),
    );
    const [build, ...others] = await world.buildsOf(await send("repo:push", mixed));
    assert.deepEqual([build?.position, others.length], [2, 0]);
  });

  it("are all made, if they are too many for one transaction", async () => {
    const steps = Array.from({ length: 500 }, () => ({ command: "true" }));
    const { post, builds } = await world.provider("bitbucket", {}, { steps });
    const id = await post("repo:push", manyChanges(20));
    const other = await post("repo:push", bitbucketPush(bitbucketChange()));
    for (let looks = 0; looks < 20 && (await builds()).length < 21; looks++) await world.work();
    assert.deepEqual(
      (await world.buildsOf(id)).map(({ position }) => position).sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, index) => index),
    );
    assert.match(await world.outcome(id), /^branch-0/);
    assert.equal((await world.buildsOf(other)).length, 1);
  });

  it("are made once, whatever is repeated", async () => {
    const { post, builds } = await world.provider("bitbucket");
    const ids = [];
    for (let count = 0; count < 10; count++) ids.push(await post("repo:push", manyChanges(3)));
    await Promise.all([decideDue(services()), decideDue(services()), decideDue(services())]);
    await world.work();
    assert.equal((await builds()).length, 30);
    for (const id of ids) assert.equal((await world.buildsOf(id)).length, 3);
  });

  it("are made by another worker, if one is killed after it has taken the delivery", async () => {
    const { post } = await world.provider("github");
    const id = await post("push", long(githubPush()));
    await decideDue(services(), () => Promise.reject(new Error("killed")));
    assert.equal((await world.buildsOf(id)).length, 0);
    const late = { ...services(), clock: { ...services().clock, now: () => new Date(Date.now() + 60_000) } };
    await decideDue(late);
    await decideDue(late);
    assert.equal((await world.buildsOf(id)).length, 1);
  });

  it("are made although a delivery beside theirs cannot be decided", async () => {
    const bad = await world.provider("github");
    const good = await world.provider("github");
    const badId = await bad.post("push", long(githubPush()));
    const goodId = await good.post("push", long(githubPush()));
    const readAll = openFilterEvaluator();
    await decideDue(services(), async (inputs) => {
      const evaluations = await readAll(inputs);
      const unreadable = { reading: { happened: { type: "push" } } } as unknown as EvaluationResult;
      return evaluations.map((each, index) =>
        inputs[index]?.id === badId ? { ...each, outcome: unreadable } : each,
      );
    });
    assert.equal((await world.buildsOf(badId)).length, 0);
    assert.equal((await world.buildsOf(goodId)).length, 1);
    const late = { ...services(), clock: { ...services().clock, now: () => new Date(Date.now() + 60_000) } };
    await decideDue(late);
    assert.equal((await world.buildsOf(badId)).length, 1);
  });

  /** Posts a push to each branch, of which some are read on threads. */
  const postEach = async (post: Awaited<ReturnType<typeof world.provider>>["post"], branches: string[]) => {
    const ids: string[] = [];
    for (const [index, branch] of branches.entries())
      ids.push(await post("push", index % 7 === 3 ? long(pushTo(branch)) : pushTo(branch)));
    return ids;
  };
  const branchesOf = async (builds: () => Promise<{ branch: string }[]>) =>
    (await builds()).map(({ branch }) => branch);
  const setDueAt = (id = "", ms: number) => {
    const { deliveries } = services().db.tables;
    const dueAt = new Date(Date.now() + ms);
    return services().db.transaction((tx) =>
      tx.update(deliveries).set({ dueAt }).where(eq(deliveries.id, id)),
    );
  };
  const after = (ms: number) => ({
    ...services(),
    clock: { ...services().clock, now: () => new Date(Date.now() + ms) },
  });
  const someBranches = Array.from({ length: 30 }, (_, index) => `branch-${index}`);

  it("are numbered in the order of their deliveries, also after a worker is killed that has the first", async () => {
    const { post, builds } = await world.provider("github");
    const ids = await postEach(post, someBranches);
    await setDueAt(ids[0], 20_000);
    await decideDue(services());
    assert.deepEqual(await builds(), []);
    await decideDue(after(25_000));
    assert.deepEqual(await branchesOf(builds), someBranches);
  });

  it("are not numbered before one in their midst that another worker has", async () => {
    const { post, builds } = await world.provider("github");
    const ids = await postEach(post, someBranches);
    await setDueAt(ids[9], 20_000);
    await decideDue(services());
    assert.deepEqual(await branchesOf(builds), someBranches.slice(0, 9));
    await decideDue(after(25_000));
    assert.deepEqual(await branchesOf(builds), someBranches);
  });

  it("are numbered in their order by two workers at once", async () => {
    const { post, builds } = await world.provider("github");
    await postEach(post, someBranches);
    for (let looks = 0; looks < 50 && (await builds()).length < someBranches.length; looks++)
      await Promise.all([decideDue(services()), decideDue(services())]);
    assert.deepEqual(await branchesOf(builds), someBranches);
  });

  it("are numbered in their order although they have waited for more than a minute", async () => {
    const { post, builds } = await world.provider("github");
    await postEach(post, someBranches);
    await decideDue(after(10 * minuteMs));
    assert.deepEqual(await branchesOf(builds), someBranches);
  });

  it("are numbered in their order although they are more than a transaction reads", async () => {
    const { post, builds } = await world.provider("github");
    const branches = Array.from({ length: 60 }, (_, index) => `branch-${index}`);
    const ids: string[] = [];
    for (const branch of branches)
      ids.push(await post("push", { ...pushTo(branch), padding: "x".repeat(15 * 1024) }));
    const first = await services().db.transaction(async (tx) => {
      const deliveries = await lockIfWaiting(tx, { ids });
      return decideAndBuild(tx, services(), { deliveries, results: new Map(), maxSize: 1 });
    });
    assert.ok(first.built.length > 20 && first.built.length < 40, `${first.built.length}`);
    assert.deepEqual([first.isMore, first.held], [true, []]);
    await decideDue(services());
    assert.deepEqual(await branchesOf(builds), branches);
  });

  it("wait behind one that cannot be decided for a minute, and keep nobody else waiting", async () => {
    const stuck = await world.provider("github");
    const other = await world.provider("github");
    const first = await stuck.post("push", pushTo("first"));
    await setDueAt(first, 3 * minuteMs);
    await stuck.post("push", pushTo("second"));
    const id = await other.post("push", githubPush());
    await decideDue(services());
    assert.deepEqual([await branchesOf(stuck.builds), (await world.buildsOf(id)).length], [[], 1]);
    await decideDue(after(2 * minuteMs));
    assert.deepEqual(await branchesOf(stuck.builds), ["second"]);
  });

  it("end with their branch, but not those of another or of a branch that is made again", async () => {
    const { post, send, builds } = await world.provider("github", { cancel_deleted_branch_builds: true });
    await send("push", pushTo("faster"));
    await send("push", pushTo("main"));
    await post("push", pushTo("faster"));
    await post("push", gone("faster"));
    await post("push", pushTo("faster"));
    await world.work();
    await work();
    assert.deepEqual(statesOf(await builds()), [
      "faster canceled",
      "main scheduled",
      "faster canceled",
      "faster scheduled",
    ]);
    assert.equal((await builds())[0]?.cancelReason, "Its branch was deleted");
  });

  it("stay with their branch, unless the settings say otherwise", async () => {
    const { send, builds } = await world.provider("github");
    await send("push", pushTo("faster"));
    await send("push", gone("faster"));
    await work();
    assert.deepEqual(statesOf(await builds()), ["faster scheduled"]);
  });

  it("of a fork stay when a branch of their name is deleted", async () => {
    const { send, builds } = await world.provider("github", {
      cancel_deleted_branch_builds: true,
      build_pull_request_forks: true,
      prefix_pull_request_fork_branch_names: false,
    });
    await send("push", pushTo("faster"));
    const head = { ...githubFork.head, sha: base };
    await send("pull_request", githubRequest("opened", { head }));
    await send("push", gone("faster"));
    await work();
    assert.deepEqual(statesOf(await builds()), ["faster canceled", "faster scheduled"]);
  });

  it("end with their merge group", async () => {
    const { send, builds } = await world.provider("github", {
      build_merge_group_checks_requested: true,
      cancel_when_merge_group_destroyed: true,
    });
    await send("merge_group", githubGroup("checks_requested"));
    await send("merge_group", githubGroup("destroyed"));
    await work();
    assert.deepEqual(
      (await builds()).map(({ state }) => state),
      ["canceled"],
    );
  });

  it("skip older ones of their branch, if the pipeline says so", async () => {
    const { send, builds } = await world.provider("github", {}, { skip_queued_branch_builds: true });
    await send("push", pushTo("main"));
    await send("push", pushTo("main"));
    await work();
    assert.deepEqual(statesOf(await builds()), ["main skipped", "main scheduled"]);
  });
});
