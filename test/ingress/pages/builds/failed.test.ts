import assert from "node:assert/strict";
import { it } from "node:test";
import { leaseJob, newJob } from "../../../agents/logs/jobs-with-logs.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

describeWorldOn(sqlite, "what failed, on the page of a build", startQueuePages, (pages) => {
  const pageOf = async (log: string, repository: string | null = null) => {
    const made = await newJob(pages.services, pages.acme, { repository });
    const job = await leaseJob(pages.services, made);
    await job.log(log);
    await job.finish("failed");
    return (await pages.asAda.get(made.page.replace(/\/jobs\/.*/, ""))).text;
  };
  const excerptOf = async (log: string) => {
    const text = await pageOf(log);
    const [, excerpt = ""] = /<section class="lines excerpt"[^>]*><pre>(.*?)<\/pre>/s.exec(text) ?? [];
    const [, line] = /line ([\d,]+) of the log/.exec(text) ?? [];
    return {
      line,
      lines: excerpt
        .replace(/<[^>]*>/g, "")
        .trim()
        .split("\n"),
    };
  };
  const tests = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `ok ${from + index}`);
  const logOf = (...error: string[]) =>
    [...tests(1, 180), ...error, ...tests(182, 400), "1 failed"].join("\n");

  it("says an error in the middle of a log without colors, the line before it, and the end of the log", async () => {
    const { line, lines } = await excerptOf(logOf("not ok 181", "  Error: expected 12 but got 13"));

    assert.equal(line, "181");
    assert.deepEqual(lines, [
      "ok 180",
      ...["not ok 181", "  Error: expected 12 but got 13"],
      ...["ok 182", "ok 183", "⋯"],
      ...["ok 398", "ok 399", "ok 400", "1 failed"],
    ]);
  });

  it("says the end alone if no line is an error, or one of the last is", async () => {
    const last = [...tests(392, 400), "1 failed"];
    assert.deepEqual((await excerptOf(logOf("0 errors, error handling is on", "Error: 0"))).lines, last);
    const late = await excerptOf(`${logOf("ok 181")}\nfatal: no`);
    assert.deepEqual(late, { line: "402", lines: [...last.slice(1), "fatal: no"] });
  });

  it("says of a missing file that there is no repository, if there is none", async () => {
    const note = /pipeline has <a href="[^"]*\/edit#field-repository">no repository<\/a>: its jobs start in/;
    const missing = [
      "npm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open 'a'",
      "make: *** No targets specified and no makefile found.  Stop.",
      "sh: 1: ./test.sh: not found",
      "Error: Cannot find module '/builds/site/main.js'",
      "cat: greeting.txt: No such file or directory",
    ];
    for (const line of missing) assert.match(await pageOf(`start\n${line}\n`), note, line);
    assert.doesNotMatch(await pageOf(`${missing[0]}\n`, "https://github.com/acme/app.git"), note);
    for (const other of ["Error: expected 1", "sh: 1: nmp: not found", "ok 1 ENOENT"])
      assert.doesNotMatch(await pageOf(`${other}\n`), note, other);
  });

  it("prefers red lines, after the two before them", async () => {
    const { line, lines } = await excerptOf(`${logOf("Error: early")}\n\x1b[31mred\x1b[0m\nlast`);
    assert.deepEqual([line, lines], ["402", ["ok 400", "1 failed", "red", "last"]]);
    const first = await excerptOf("--- Tests\n\x1b[31mred\x1b[0m\nlast");
    assert.deepEqual([first.line, first.lines], ["2", ["red", "last"]]);
  });
});
