import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, it } from "node:test";

/** With this PATH no server and no browser is found. */
function npmTest(args: string[], env: NodeJS.ProcessEnv) {
  return spawnSync(process.execPath, ["--import", "tsx", "test/run.ts", ...args], {
    env: {
      PATH: "/nowhere",
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      TEST_CONTAINERS: "off",
      ...env,
    },
    encoding: "utf8",
    maxBuffer: 100 * 1024 * 1024,
  });
}

describe("npm test", () => {
  it("fails under TEST_REQUIRE=all when a server is missing, and says why", () => {
    const { status, stderr } = npmTest(["test/servers/given.ts"], { TEST_REQUIRE: "all" });

    assert.equal(status, 1);
    assert.match(stderr, /Redis: none.*TEST_CONTAINERS=off, and there is no redis-server/);
    assert.match(
      stderr,
      /Chromium: none.*none of chromium-headless-shell, chromium, chromium-browser, google-chrome is on/,
    );
  });

  it("fails, instead of skipping, when a named server does not answer", () => {
    const redis = npmTest(["test/servers/given.ts"], { TEST_REDIS_URL: "redis://:secret@127.0.0.1:1" });

    assert.equal(redis.status, 1);
    assert.match(redis.stderr, /TEST_REDIS_URL names a Redis that cannot be used: .*ECONNREFUSED/);
    assert.doesNotMatch(redis.stderr, /secret/);
  });

  it("fails, instead of skipping, when the named browser is missing", () => {
    const { status, stderr } = npmTest(["test/servers/given.ts"], { TEST_CHROMIUM: "/nowhere/chromium" });

    assert.equal(status, 1);
    assert.match(stderr, /TEST_CHROMIUM names no program: \/nowhere\/chromium\./);
  });

  it("fails when the selection contains no tests", () => {
    const { status, stderr } = npmTest(["test/nothing"], {});

    assert.equal(status, 1);
    assert.equal(stderr, "There are no tests in test/nothing.\n");
  });

  it("runs many files in a few processes, names one that cannot be loaded, and ends with what failed", (context) => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-run-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const broken = join(folder, "broken.test.ts");
    writeFileSync(broken, "throw new Error('no tests');");
    writeFileSync(join(folder, "failing.test.ts"), failing("assert.fail('a reason');"));
    const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
    for (const number of numbers)
      writeFileSync(
        join(folder, `${number}.test.ts`),
        `import { describe, it } from "node:test";
        import { spawn } from "node:child_process";
        import { setTimeout as sleep } from "node:timers/promises";
        describe("${number}", () => {
          it("passes as number ${number} in " + process.pid, async (context) => {
            // Meanwhile the runner reads no results.
            spawn("/bin/sh", ["-c", "kill -STOP $0; /bin/sleep 0.3; kill -CONT $0", String(process.ppid)]);
            await sleep(20);
            context.diagnostic("much output ".repeat(100_000));
          });
        });`,
      );

    const { status, stdout, stderr } = npmTest([folder], { TEST_BUNDLE: folder });

    const passed = [...stdout.matchAll(/ {2}✔ passes as number (\d+) in (\d+)/g)];
    assert.deepEqual(
      passed.map(([, number]) => Number(number)).sort((a, b) => a - b),
      numbers,
    );
    assert.ok(new Set(passed.map(([, , pid]) => pid)).size <= 6);
    assert.equal(status, 1);
    assert.ok(stderr.includes(`${relative("", broken)}: `), stderr);
    assert.match(stderr, /failing\.test\.ts: fails\na reason\n/);
  });

  it("runs the tests of a name alone, whose files are among many", (context) => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-run-"));
    context.after(() => rmSync(folder, { recursive: true }));
    for (let number = 1; number <= 20; number++)
      writeFileSync(
        join(folder, `${number}.test.ts`),
        `import { it } from "node:test"; it("is number ${number}", () => {});`,
      );

    const { status, stdout } = npmTest([folder, "--test-name-pattern=number 1[01]"], { TEST_BUNDLE: folder });

    assert.equal(status, 0, stdout);
    assert.deepEqual([...stdout.matchAll(/✔ is number (\d+)/g)].map(([, number]) => number).sort(), [
      "10",
      "11",
    ]);
  });
});

function failing(body: string): string {
  return `import assert from "node:assert/strict";
    import { it } from "node:test";
    it("fails", () => { ${body} });`;
}
