import { createHash } from "node:crypto";
import { type Kind, takesOtherWay } from "../installation/steps.ts";
import { fetchStatus, storedFiles, storedLines } from "../installation/stored-files.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "jobs" | "artifacts" | "blobs">;
type Job = Ledger["jobs"][number];

const neededPerMinute = 2;

/**
 * A finished artifact has its bytes, those that its job stored. A job that passed left all of its files, a job that
 * downloaded got their bytes, and the store has nothing else. Read the rows after a sweep.
 */
export function checkArtifacts({ jobs, artifacts, blobs }: Rows): Discrepancy[] {
  const wrong = (words: string) => discrepancy("artifacts", words);
  const finished = artifacts.filter(({ state }) => state === "finished");
  const named = new Set(finished.map(({ id }) => id));
  const ofJobs = Map.groupBy(finished, ({ jobId }) => jobId);
  const sums = new Map<string, string>();
  const expectedSum = (path: string, buildId: string) => {
    const key = `${buildId} ${path}`;
    const sum = sums.get(key) ?? sumOf(path, buildId);
    sums.set(key, sum);
    return sum;
  };
  const ofBlobs = (bytes: NonNullable<Rows["blobs"]>) => [
    ...finished.flatMap(({ id, path, size, sha1, buildId }) => {
      const blob = bytes.get(id);
      if (!blob) return wrong(`artifact ${id} (${path}) is finished, but has no bytes`);
      if (blob.bytes !== size || blob.sha1 !== sha1)
        return wrong(`artifact ${id} (${path}) has ${blob.bytes} bytes other than its ${size}`);
      return blob.sha1 === expectedSum(path, buildId)
        ? []
        : wrong(`artifact ${id} (${path}) has other bytes than its job stored`);
    }),
    ...artifacts
      .filter(({ state }) => state === "new")
      .map(({ id, path }) => wrong(`artifact ${id} (${path}) is open for ever`)),
    ...[...bytes.keys()]
      .filter((id) => !named.has(id))
      .map((id) => wrong(`no artifact names the blob ${id}`)),
  ];
  return [
    ...(blobs ? ofBlobs(blobs) : []),
    ...jobs.flatMap((job) => {
      const paths = (ofJobs.get(job.id) ?? []).map(({ path }) => path);
      const missing = leaves(job) ? Object.keys(storedFiles).filter((path) => !paths.includes(path)) : [];
      return missing.map((path) => wrong(`job ${job.id} passed, but its ${path} is not finished`));
    }),
    ...jobs
      .filter(({ label, exitStatus }) => label === "fetch" && exitStatus === fetchStatus.isOther)
      .map(({ id }) => wrong(`job ${id} downloaded other bytes than were stored`)),
  ];
}

/** A run in which few artifacts came through proves nothing. */
export function checkComparisons(jobs: Pick<Job, "label" | "state">[], minutes: number): Discrepancy[] {
  const needed = Math.floor(minutes * neededPerMinute);
  const compared = countComparisons(jobs);
  return compared < needed
    ? [
        discrepancy(
          "traffic",
          `too little to prove anything: ${compared} jobs passed that compare downloads, and this run needs ${needed}`,
        ),
      ]
    : [];
}

export function countComparisons(jobs: Pick<Job, "label" | "state">[]): number {
  return jobs.filter(({ label, state }) => label === "fetch" && state === "passed").length;
}

function leaves({ label, state, buildId }: Job): boolean {
  const kind = label as Kind;
  return kind === "store" && state === "passed" && takesOtherWay(kind, buildId);
}

function sumOf(path: string, buildId: string): string {
  const hash = createHash("sha1");
  const count = storedFiles[path as keyof typeof storedFiles] ?? 0;
  for (const line of storedLines(count, buildId)) hash.update(line);
  return hash.digest("hex");
}
