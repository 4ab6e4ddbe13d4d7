import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { describe, it } from "node:test";
import { fetchStatus, storedFiles, storedLines } from "../../scripts/prove/installation/stored-files.ts";
import { checkArtifacts, checkComparisons } from "../../scripts/prove/ledger/artifacts.ts";
import { ledgerOf } from "./rows.ts";

describe("npm run prove, artifacts", () => {
  const stores = { id: "j1", buildId: "b1", label: "store", state: "passed", exitStatus: 0 };
  const bytesOf = (path: keyof typeof storedFiles, buildId = "b1") =>
    [...storedLines(storedFiles[path], buildId)].join("");
  const sumOf = (text: string) => ({ bytes: Buffer.byteLength(text), sha1: hash("sha1", text) });
  const whole = Object.keys(storedFiles).map((path, index) => {
    const { bytes, sha1 } = sumOf(bytesOf(path as keyof typeof storedFiles));
    return { id: `a${index}`, jobId: "j1", buildId: "b1", path, size: bytes, sha1, state: "finished" };
  });
  const blobsOf = (rows: typeof whole) =>
    new Map(rows.map(({ id, size, sha1 }) => [id, { bytes: size, sha1 }]));
  const check = ({ artifacts = whole, blobs = blobsOf(whole), job = {} }) =>
    checkArtifacts(ledgerOf({ jobs: [{ ...stores, ...job }], artifacts, blobs }))
      .map(({ title }) => title)
      .join("; ");
  const changed = (change: object) => [{ ...whole[0], ...change } as (typeof whole)[0], ...whole.slice(1)];

  it("match if all that is finished has the bytes that its job stored, and nothing else is there", () => {
    assert.equal(check({}), "");
    assert.equal(check({ artifacts: [], blobs: new Map(), job: { state: "failed" } }), "");
    assert.equal(check({ artifacts: [], blobs: new Map(), job: { buildId: "b8" } }), "");
  });

  it("are found without bytes, with others than announced, and with others than their job's", () => {
    const rest = blobsOf(whole.slice(1));
    const other = sumOf("other");
    assert.match(check({ blobs: rest }), /a0 .* has no bytes/);
    assert.match(check({ blobs: new Map([...rest, ["a0", { ...other, bytes: 1 }]]) }), /a0 .* has 1 bytes/);
    const same = changed({ size: other.bytes, sha1: other.sha1 });
    assert.match(check({ artifacts: same, blobs: blobsOf(same) }), /a0 .* other bytes than its job stored/);
  });

  it("are found when a job passed without one of them", () => {
    const failed = changed({ state: "error" });
    assert.match(
      check({ artifacts: failed, blobs: blobsOf(whole.slice(1)) }),
      /j1 passed, but its out\/large/,
    );
    assert.match(check({ artifacts: whole.slice(0, 2), blobs: blobsOf(whole.slice(0, 2)) }), /out\/empty/);
  });

  it("are found when they stay open, and blobs when no artifact names them", () => {
    assert.match(check({ artifacts: [...whole, ...changed({ state: "new" }).slice(0, 1)] }), /open for ever/);
    assert.match(check({ blobs: blobsOf([...whole, ...changed({ id: "a9" }).slice(0, 1)]) }), /the blob a9/);
    const failed = changed({ state: "error" });
    assert.match(check({ artifacts: failed }), /no artifact names the blob a0/);
  });

  it("are too few if hardly a job compared what it downloaded", () => {
    const jobs = [{ label: "fetch", state: "passed" } as const, { label: "fetch", state: "failed" } as const];
    assert.deepEqual(checkComparisons(jobs, 0.5), []);
    assert.match(checkComparisons(jobs, 1)[0]?.title ?? "", /1 jobs passed .* needs 2/);
  });

  it("are found when a job downloaded other bytes", () => {
    const job = { label: "fetch", state: "failed", exitStatus: fetchStatus.isOther };
    assert.match(check({ job }), /j1 downloaded other bytes/);
  });
});
