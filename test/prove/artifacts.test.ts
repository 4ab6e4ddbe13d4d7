import { hash } from "node:crypto";
import { describe } from "node:test";
import { fetchStatus, storedFiles, storedLines } from "../../scripts/prove/installation/stored-files.ts";
import { checkArtifacts, checkComparisons } from "../../scripts/prove/ledger/artifacts.ts";
import { itFinds, ledgerOf } from "./rows.ts";

describe("npm run prove, artifacts", () => {
  const stores = { id: "j1", buildId: "b1", label: "store", state: "passed", exitStatus: 0 };
  const whole = Object.entries(storedFiles).map(([path, count], index) => {
    const text = [...storedLines(count, "b1")].join("");
    const sums = { size: Buffer.byteLength(text), sha1: hash("sha1", text) };
    return { id: `a${index}`, jobId: "j1", buildId: "b1", path, state: "finished", ...sums };
  });
  const [first, ...rest] = whole as [(typeof whole)[0], ...typeof whole];
  const blobsOf = (rows: typeof whole) =>
    new Map(rows.map(({ id, size, sha1 }) => [id, { bytes: size, sha1 }]));
  const check = (artifacts: object[], blobs = blobsOf(whole), job: object = {}) =>
    checkArtifacts(ledgerOf({ jobs: [{ ...stores, ...job }], artifacts, blobs }));
  const failed = { ...first, state: "error" };
  const other = { ...first, size: 5, sha1: hash("sha1", "other") };
  const downloads = { label: "fetch", state: "failed", exitStatus: fetchStatus.isOther };

  itFinds(check, {
    "all that is finished, with the bytes that its job stored": [undefined, whole],
    "a job that failed and stored nothing": [undefined, [], new Map(), { state: "failed" }],
    "one without bytes": [/a0 .* has no bytes/, whole, blobsOf(rest)],
    "one with other bytes than announced": [/a0 .* has 5 bytes other/, whole, blobsOf([other, ...rest])],
    "one with other bytes than its job's": [
      /a0 .* than its job/,
      [other, ...rest],
      blobsOf([other, ...rest]),
    ],
    "a job that passed without one": [/j1 passed, but its out\/large/, [failed, ...rest], blobsOf(rest)],
    "one that stays open": [/open for ever/, [...whole, { ...first, state: "new" }]],
    "a blob that no artifact names": [/names the blob a0/, [failed, ...rest]],
    "a download of other bytes": [/j1 downloaded other bytes/, whole, blobsOf(whole), downloads],
  });

  const jobs = [{ label: "fetch", state: "passed" } as const, { label: "fetch", state: "failed" } as const];
  itFinds(checkComparisons, {
    "a job that compared what it downloaded": [undefined, jobs, 0.5],
    "too few of them": [/1 jobs passed .* needs 2/, jobs, 1],
  });
});
