import assert from "node:assert/strict";
import { it } from "node:test";
import { leaseJob, newJob } from "../../../agents/logs/jobs-with-logs.ts";
import { describeWorld } from "../../../helpers/databases.ts";
import { startPages } from "../../../helpers/pages.ts";

describeWorld("the page of a job, opened at a line", startPages, (pages) => {
  const logOf = (word: string) =>
    ["--- First", ...Array(9000).fill("first"), "--- Second", ...Array(9000).fill(word), ""].join("\n");
  const open = async (job: { page: string }, query: string) => {
    const { status, text } = await (await pages.visitor(pages.ada)).get(`${job.page}?${query}`);
    assert.equal(status, 200);
    return text;
  };

  it("has the line of the attempt, in a group that is open, without scripts", async () => {
    const made = await newJob(pages.services, pages.acme);
    for (const [index, word] of ["older", "newer"].entries()) {
      const job = await leaseJob(pages.services, { ...made, attempt: index + 1 });
      await job.log(logOf(word));
      await job.finish("failed");
    }

    for (const [attempt, word] of ["older", "newer"].entries()) {
      const text = await open(made, `line=13351&attempt=${attempt + 1}`);
      assert.match(text, new RegExp(`<p id="L13351" class="marked">(?:(?!</p>).)*${word}</p>`));
      assert.match(text, new RegExp(`href="\\?line=13351&amp;attempt=${attempt + 1}#L13351"`));
    }
    const atHeader = await open(made, "line=9002&attempt=1");
    assert.match(atHeader, /<details id="L9002" open class="marked"/);
    assert.match(atHeader, /<\/summary><a class="number" href="\?line=9002&amp;attempt=1#L9002"/);
    assert.match(await open(made, "line=5&attempt=1"), /<details id="L1" open/);
    assert.match(await open(made, "line=99999&attempt=1"), /id="L18002"/, "the end of a shorter log");
  });
});
