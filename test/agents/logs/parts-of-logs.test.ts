import assert from "node:assert/strict";
import { before, it } from "node:test";
import { openApi } from "../../helpers/api.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { leaseJob, newJob } from "./jobs-with-logs.ts";

describeWorld("…/jobs/{id}/log in the form that a client asks for", openApi, (api) => {
  let token: string;

  before(async () => {
    token = await api.tokenOf(api.admin, ["read_build_logs"]);
  });

  const logged = async () => {
    const made = await newJob(api.world.services, api.acme);
    const job = await leaseJob(api.world.services, made);
    const address = `${api.world.url}/v2/organizations/acme/pipelines/${made.slug}/builds/1/jobs/${made.id}/log`;
    const ask = async (headers: Record<string, string>, ending = "", method = "GET") => {
      const answer = await fetch(address + ending, {
        method,
        headers: { ...headers, Authorization: `Bearer ${token}` },
      });
      const part = answer.headers.get("content-range");
      return { status: answer.status, headers: answer.headers, part, text: await answer.text() };
    };
    return { job, ask };
  };

  it("is text or HTML for clients that accept these, and else JSON", async () => {
    const { job, ask } = await logged();
    await job.log("a <b>\n");

    for (const [accept, type] of [
      ["text/plain", "text/plain"],
      ["text/html", "text/html"],
      ["text/html;q=0.5, text/plain;q=0.6", "text/plain"],
      ["text/*;q=0.9, application/json;q=0.1", "text/plain"],
      ["application/json, text/plain, */*", "application/json"],
      ["*/*", "application/json"],
      ["image/png", "application/json"],
    ] as const) {
      const { status, headers } = await ask({ Accept: accept });
      assert.deepEqual([status, headers.get("content-type")], [200, `${type};charset=UTF-8`], accept);
      assert.equal(headers.get("vary"), "Accept");
    }
    assert.equal((await ask({ Accept: "text/plain" })).text, "a <b>\n");
    assert.match((await ask({ Accept: "text/html" })).text, /a &lt;b>/);
  });

  it("is answered in parts, and HEAD has the length", async () => {
    const { job, ask } = await logged();
    await job.log("0123456789", 3);
    const part = async (Range: string, ending = ".txt") => {
      const { status, part: is, text } = await ask({ Range, Accept: "text/plain" }, ending);
      return [status, is, text];
    };

    assert.deepEqual(await part("bytes=0-3"), [206, "bytes 0-3/10", "0123"]);
    assert.deepEqual(await part("bytes=4-", ""), [206, "bytes 4-9/10", "456789"]);
    assert.deepEqual(await part("bytes=-2"), [206, "bytes 8-9/10", "89"]);
    assert.deepEqual(await part("bytes=7-99"), [206, "bytes 7-9/10", "789"]);
    for (const whole of ["bytes=5-2", "bytes=0-1,3-4", "lines=1-2", "bytes=-", "bytes=x"])
      assert.deepEqual(await part(whole), [200, null, "0123456789"], whole);
    const past = await ask({ Range: "bytes=10-" }, ".txt");
    assert.deepEqual([past.status, past.part], [416, "bytes */10"]);
    assert.equal((await ask({ Range: "bytes=1-2", "If-Range": '"x"' }, ".txt")).status, 200);

    const head = await ask({}, ".txt", "HEAD");
    assert.deepEqual([head.status, head.headers.get("content-length"), head.text], [200, "10", ""]);
    const headOfJson = await ask({}, "", "HEAD");
    assert.deepEqual([headOfJson.status, headOfJson.headers.get("content-length")], [200, "10"]);
    assert.equal(headOfJson.headers.get("accept-ranges"), "bytes");
    const headOfPart = await ask({ Range: "bytes=2-4" }, ".txt", "HEAD");
    assert.deepEqual([headOfPart.status, headOfPart.headers.get("content-length")], [206, "3"]);
  });

  it("has parts with the lines that stand for missing bytes", async () => {
    const { job, ask } = await logged();
    await job.send(1, 0, "begin\n");
    await job.send(2, 100, "end\n");
    await job.send(3, 98, "??end\n");
    await job.finish();
    const { text: whole } = await ask({}, ".txt");
    assert.match(whole, /begin\n\n\[92 bytes of the log did not arrive\.\]\n\?\?end\n/);

    const length = Buffer.byteLength(whole);
    assert.equal((await ask({}, ".txt", "HEAD")).headers.get("content-length"), String(length));
    for (let start = 0; start < length; start += 5) {
      const { text, part } = await ask({ Range: `bytes=${start}-${start + 8}` }, ".txt");
      assert.equal(text, whole.slice(start, start + 9));
      assert.equal(part, `bytes ${start}-${Math.min(start + 8, length - 1)}/${length}`);
    }
  });
});
