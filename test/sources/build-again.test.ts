import assert from "node:assert/strict";
import { it } from "node:test";
import { describeWorld } from "../helpers/databases.ts";
import { githubFork, githubPush, githubRequest } from "./github-payloads.ts";
import { openHostWorld, type Provider } from "./host-world.ts";
import { bitbucketChange, bitbucketPush, sha } from "./payloads.ts";

describeWorld("building a host's delivery again", openHostWorld, (world) => {
  const refusal = async (provider: Provider, id: string) => {
    const { message } = await world.again(provider, id).then(
      () => assert.fail("it was built"),
      (error: Error) => error,
    );
    return message;
  };

  it("takes the facts from the event, as the caller", async () => {
    const provider = await world.provider("github");
    const id = await provider.send("pull_request", githubRequest("opened"));
    const build = await world.again(provider, id);
    const [first] = await world.buildsOf(id);
    assert.deepEqual([build.branch, build.commit, build.rebuild], ["faster", sha, 1]);
    assert.deepEqual(build.options, first?.options);
    assert.equal(build.creatorId, world.acme.operator.userId);
  });

  it("passes filters, messages and earlier builds over", async () => {
    const provider = await world.provider("github", { filter_enabled: true, filter_condition: "false" });
    const id = await provider.send("push", githubPush({}, { message: "[skip ci]" }));
    assert.equal((await world.again(provider, id)).branch, "main");
  });

  it("is refused where the event makes no build", async () => {
    const provider = await world.provider("github");
    assert.equal(
      await refusal(provider, await provider.send("ping", {})),
      "The delivery makes no build: its event makes no builds",
    );
    assert.equal(
      await refusal(provider, await provider.send("pull_request", githubRequest("opened", githubFork))),
      "The delivery makes no build: builds of forks are switched off",
    );
    assert.match(
      await refusal(provider, await provider.send("push", {})),
      /^The event was not understood: ref is missing: /,
    );
  });

  it("builds all changes, and returns the first build; a repeated form makes none", async () => {
    const provider = await world.provider("bitbucket");
    const named = (name: string) => bitbucketChange({ new: { ...bitbucketChange().new, name } });
    const id = await provider.send("repo:push", bitbucketPush(named("a"), named("b")));
    const build = await world.again(provider, id, 1);
    assert.equal(build.branch, "a");
    assert.equal((await world.again(provider, id, 1)).id, build.id);
    assert.deepEqual(
      (await world.buildsOf(id)).map(({ branch, rebuild }) => `${branch} ${rebuild}`),
      ["a 0", "b 0", "a 1", "b 1"],
    );
  });
});
