import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import type { CommandStep } from "../../../../shared/vocabulary.ts";
import { leaseJob, newJob } from "../../../agents/logs/jobs-with-logs.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const repository = "https://ci:secret@git.example.com/acme/app.git";
const shown = "https://git.example.com/acme/app.git";
const clone = "Cloning into '.'...";

interface Failed {
  log: string[];
  step?: CommandStep;
  exitStatus?: number;
  repository?: string | null;
}

describeWorldOn(sqlite, "a job that failed in its checkout", startQueuePages, (pages) => {
  /** Said on the page of the job and, the same, on that of its build. */
  const said = async ({ log, exitStatus = 128, ...pipeline }: Failed) => {
    const made = await newJob(pages.services, pages.acme, { repository, ...pipeline });
    const job = await leaseJob(pages.services, made);
    await job.log(`${log.join("\n")}\n`);
    await job.finish("failed");
    const { jobs } = pages.services.db.tables;
    await pages.services.db.transaction((tx) =>
      tx.update(jobs).set({ exitStatus }).where(eq(jobs.id, made.id)),
    );
    const [ofJob, ofBuild] = await Promise.all(
      [made.page, made.page.replace(/\/jobs\/.*/, "")].map(async (path) => {
        const { text } = await pages.asBob.get(path);
        return /<p class="job-note">(Git .*?)<\/p>/s.exec(text)?.[1];
      }),
    );
    assert.equal(ofJob, ofBuild);
    return ofJob;
  };
  const wordsOf = async (...log: string[]) => (await said({ log: [clone, ...log] }))?.replace(/<[^>]*>/g, "");
  const skip =
    "A command that needs no file of the repository can skip the checkout: tick “Do not clone the repository” in the form of its step or, in YAML, write checkout: {skip: true}.";

  it("names the repository, the cause, what mends it, and the way to do without checkout", async () => {
    const unknown = `fatal: unable to access '${shown}/': Could not resolve host: git.example.com`;
    const text = await said({ log: [clone, unknown, clone, unknown, clone, unknown] });

    assert.equal(
      text?.replace(/<[^>]*>/g, ""),
      `Git could not check out ${shown}: the agent’s machine finds no host git.example.com. Correct the repository, or the name service of that machine. ${skip}`,
    );
    assert.match(text ?? "", /<a href="[^"]*\/edit#field-repository">Correct the repository<\/a>/);
    assert.match(text ?? "", /<a href="\/docs\/steps#checkout"[^>]*>skip the checkout<\/a>/);
  });

  it("shows no part of a password", async () => {
    for (const repository of [
      "https://ci:s@cret@git.example.com/a.git",
      "git+ssh://ci:s@git.example.com/a.git",
    ]) {
      const text = await said({ log: [clone, "fatal: early EOF"], repository });
      assert.match(text ?? "", /<code>[a-z+]+:\/\/git\.example\.com\/a\.git<\/code>/);
    }
  });

  it("tells the causes that git names apart", async () => {
    const causes: [string[], RegExp][] = [
      [
        ["ssh: Could not resolve hostname git.example.com: Name or service not known"],
        /finds no host git\.example\.com\./,
      ],
      [
        ["fatal: unable to access 'x': Failed to connect to git.example.com port 443"],
        /does not answer the agent\./,
      ],
      [["Host key verification failed.", "fatal: Could not read from remote repository."], /known_hosts/],
      [
        ["remote: Repository not found.", `fatal: repository '${shown}/' not found`],
        /no such repository, or the agent may not read it/,
      ],
      [
        ["ERROR: Repository not found.", "fatal: Could not read from remote repository."],
        /no such repository/,
      ],
      [
        ["fatal: '/srv/app.git' does not appear to be a git repository"],
        /no such repository, or the agent may not read it/,
      ],
      [
        [`fatal: Authentication failed for '${shown}/'`],
        /the agent may not read it\. Give the agent a key or a password/,
      ],
      [
        ["fatal: could not read Username for 'https://git.example.com': terminal prompts disabled"],
        /may not read it/,
      ],
      [["git@git.example.com: Permission denied (publickey)."], /may not read it/],
      [
        ["fatal: couldn't find remote ref feature"],
        /does not have the commit or branch of the build\. Push it/,
      ],
      [["fatal: early EOF"], /^Git could not check out \S+\.git\. Correct the repository\. A command/],
    ];
    for (const [log, words] of causes) assert.match((await wordsOf(...log)) ?? "", words, log.join());
  });

  it("is found in the groups of the hosted service's agent, with the hooks behind", async () => {
    const log = [
      "~~~ Running global environment hook",
      "$ /etc/hooks/environment",
      "~~~ Preparing working directory",
      "$ git fetch -- origin 1234567",
      "fatal: couldn't find remote ref 1234567",
      "\x1b[31m🚨 Error: The command exited with status 128\x1b[0m",
      "~~~ Running global pre-exit hook",
      "$ /etc/hooks/pre-exit",
    ];
    assert.match((await said({ log })) ?? "", /does not have the commit/);
    assert.equal(
      await said({ log: [...log.slice(0, 3), "~~~ Running commands", ...log.slice(4)] }),
      undefined,
    );
  });

  it("leads a step that uploads others to steps in the pipeline", async () => {
    const step = { command: "buildkite-agent pipeline upload" };
    const text = await said({ log: [clone, "fatal: repository 'x' not found"], step });
    assert.match(text ?? "", /<a href="[^"]*\/edit\?build=1#steps">write them in the pipeline<\/a>/);
    assert.doesNotMatch(text ?? "", /skip the checkout/);
  });

  it("is no job whose command failed, or that checks nothing out", async () => {
    const fatal = "fatal: repository 'x' not found";
    const failed = { log: [clone, fatal] };

    assert.equal(await said({ log: [clone, "HEAD is now at 1234567 Mend", fatal] }), undefined);
    assert.equal(await said({ log: [fatal] }), undefined);
    assert.equal(await said({ log: [clone, "make: *** No rule to make target 'x'. Stop."] }), undefined);
    assert.equal(await said({ ...failed, step: { command: "make", checkout: { skip: true } } }), undefined);
    assert.equal(await said({ ...failed, repository: null }), undefined);
    assert.ok(await said(failed));
  });
});
