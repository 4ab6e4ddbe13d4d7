import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { eventually } from "../helpers/http.ts";
import { kept, moveIn, type SignInWorld, startSignInWorld } from "../helpers/login.ts";
import { run } from "../helpers/processes.ts";

describe("npm run login as a program", () => {
  let world: SignInWorld;
  before(async () => {
    world = await startSignInWorld({ POLL_INTERVAL_SECONDS: "1" });
  });
  after(() => world.close());

  const start = async (home: string) => {
    const args = ["scripts/login.ts", "--server", world.door.url];
    const running = run(args, { HOME: home, XDG_CONFIG_HOME: "" });
    const ended = once(running.process, "close");
    await eventually("the code", async () => running.output().includes("Ctrl-C gives up."));
    return { ...running, ended };
  };

  it("signs in, and shows no token", async (t) => {
    const here = moveIn(world, t);
    const { output, ended } = await start(here.home);

    await world.approve(output());

    assert.deepEqual(await ended, [0, null]);
    assert.match(output(), /as Ada <ada@acme\.example\.com>\./);
    assert.doesNotMatch(output(), /sb[a-z]{2}_/);
    assert.match(kept(here).access_token, /^sbat_/);
    assert.equal((statSync(here.file).mode & 0o777).toString(8), "600");
  });

  it("exits with 130 on Ctrl-C", async (t) => {
    const here = moveIn(world, t);
    const running = await start(here.home);
    const before = running.output();

    running.process.kill("SIGINT");

    assert.deepEqual(await running.ended, [130, null]);
    assert.equal(running.output(), before);
    assert.equal(existsSync(here.file), false);
  });
});
