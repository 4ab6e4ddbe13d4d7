import { createHash } from "node:crypto";
import { type Kind, takesWay } from "../installation/steps.ts";
import { fetchStatus, storedFiles, storedLines } from "../installation/stored-files.ts";
import { checkOf } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

type Rows = Pick<Ledger, "jobs" | "artifacts" | "blobs">;
type Job = Ledger["jobs"][number];

const neededPerMinute = 2;

/**
 * A finished artifact has its bytes, those that its job stored. A job that passed left all of its files, a job that
 * downloaded got their bytes, and the store has nothing else. Read the rows after a sweep.
 */
export const checkArtifacts = checkOf("artifacts", function* ({ jobs, artifacts, blobs }: Rows) {
  const finished = artifacts.filter(({ state }) => state === "finished");
  if (blobs) yield* findWrongBlobs(artifacts, finished, blobs);
  const ofJobs = Map.groupBy(finished, ({ jobId }) => jobId);
  for (const job of jobs) {
    const { id, label, exitStatus } = job;
    const paths = ofJobs.get(id)?.map(({ path }) => path) ?? [];
    for (const path of leaves(job) ? Object.keys(storedFiles) : [])
      if (!paths.includes(path)) yield `job ${id} passed, but its ${path} is not finished`;
    if (label === "fetch" && exitStatus === fetchStatus.isOther)
      yield `job ${id} downloaded other bytes than were stored`;
  }
});

function* findWrongBlobs(
  artifacts: Rows["artifacts"],
  finished: Rows["artifacts"],
  blobs: NonNullable<Rows["blobs"]>,
) {
  const sums = new Map<string, string>();
  const named = new Set(finished.map(({ id }) => id));
  for (const { id, path, size, sha1, buildId } of finished) {
    const blob = blobs.get(id);
    const key = `${buildId} ${path}`;
    if (!sums.has(key)) sums.set(key, sumOf(path, buildId));
    if (!blob) yield `artifact ${id} (${path}) is finished, but has no bytes`;
    else if (blob.bytes !== size || blob.sha1 !== sha1)
      yield `artifact ${id} (${path}) has ${blob.bytes} bytes other than its ${size}`;
    else if (blob.sha1 !== sums.get(key))
      yield `artifact ${id} (${path}) has other bytes than its job stored`;
  }
  for (const { id, path, state } of artifacts)
    if (state === "new") yield `artifact ${id} (${path}) is open for ever`;
  for (const id of blobs.keys()) if (!named.has(id)) yield `no artifact names the blob ${id}`;
}

/** A run in which few artifacts came through proves nothing. */
export const checkComparisons = checkOf(
  "traffic",
  function* (jobs: Pick<Job, "label" | "state">[], minutes: number) {
    const [compared, needed] = [countComparisons(jobs), Math.floor(minutes * neededPerMinute)];
    if (compared < needed)
      yield `too little to prove anything: ${compared} jobs passed that compare downloads, and this run needs ${needed}`;
  },
);

export function countComparisons(jobs: Pick<Job, "label" | "state">[]): number {
  return jobs.filter(({ label, state }) => label === "fetch" && state === "passed").length;
}

function leaves({ label, state, buildId }: Job): boolean {
  const kind = label as Kind;
  return kind === "store" && state === "passed" && takesWay(kind, buildId);
}

function sumOf(path: string, buildId: string): string {
  const hash = createHash("sha1");
  const count = storedFiles[path as keyof typeof storedFiles] ?? 0;
  for (const line of storedLines(count, buildId)) hash.update(line);
  return hash.digest("hex");
}
