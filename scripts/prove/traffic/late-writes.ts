import { gzipSync } from "node:zlib";
import { and, eq, inArray, lt, or } from "drizzle-orm";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import type { Db } from "../../../shared/db/database.ts";
import { unfinishedJobStates } from "../../../shared/vocabulary.ts";
import { readRuns } from "../installation/marks.ts";
import type { Attempt } from "./call.ts";
import type { Lane } from "./lane.ts";
import type { LateWrite } from "./observed.ts";

/** Late writes carry these, so that a row that one of them changed shows it. */
export const lateMark = { sequence: 99_999, offset: 10_000_000, key: "late", exitStatus: 97 };

const lookEveryMs = 200;
const json = { "Content-Type": "application/json" };
const gzip = { "Content-Type": "text/plain", "Content-Encoding": "gzip" };
const chunk = `chunks?sequence=${lateMark.sequence}&offset=${lateMark.offset}&size=5`;
const entry = JSON.stringify({ key: lateMark.key, value: "late" });
const result = JSON.stringify({ exit_status: String(lateMark.exitStatus), chunks_failed_count: 0 });
const writes: (Pick<LateWrite, "name"> & { path: string; init: RequestInit })[] = [
  { name: "start", path: "start", init: { method: "PUT", headers: json, body: "{}" } },
  { name: "chunk", path: chunk, init: { method: "POST", headers: gzip, body: gzipSync("late\n") } },
  { name: "meta-data", path: "data/set", init: { method: "POST", headers: json, body: entry } },
  { name: "finish", path: "finish", init: { method: "PUT", headers: json, body: result } },
];

/** The token of an attempt that is over. */
export interface OverAttempt {
  jobId: string;
  token: string;
  /** No other attempt followed. */
  isLast: boolean;
}

/** Writes with the tokens of attempts that are superseded, while their job waits again or runs in the next one. */
export async function writeLate(lane: Lane, db: Db): Promise<void> {
  const sent = new Set<string>();
  while (!lane.signal.aborted) {
    await lane.pause(lookEveryMs);
    const rows = await listSuperseded(db).catch(() => []);
    // Once in each state of the next attempt.
    const fresh = rows.filter(({ tokenHash, attempt, state }) => {
      const moment = `${tokenHash} ${attempt} ${state}`;
      return !sent.has(moment) && sent.add(moment);
    });
    if (fresh.length === 0) continue;
    const runs = readRuns(lane.installation.marksFolder);
    const tokens = new Map(runs.map(({ token }) => [hashToken(token), token]));
    const sending = fresh.map(({ jobId, tokenHash }) => {
      const token = tokens.get(tokenHash); // none if no command ran
      return token && sendLateWrites(lane, { jobId, token, isLast: false });
    });
    await Promise.all(sending);
  }
}

/** Sends each kind of write, all at once. */
export async function sendLateWrites(lane: Lane, { jobId, token, isLast }: OverAttempt): Promise<void> {
  const sending = writes.map(async ({ name, path, init }) => {
    const attempts: Attempt[] = [];
    const headers = { ...init.headers, Authorization: `Token ${token}` };
    const { status } = await lane.send(`/v3/jobs/${jobId}/${path}`, { ...init, name, headers }, attempts);
    lane.observed.lateWrites.push({ name, jobId, isLast, status, attempts });
  });
  await Promise.all(sending);
}

/** Attempts that are over, though their job has not ended. */
function listSuperseded(db: Db) {
  const { jobs, jobTokens } = db.tables;
  const { tokenHash } = jobTokens;
  const isOver = or(lt(jobTokens.attempt, jobs.attempt), eq(jobs.state, "scheduled"));
  return db
    .select({ tokenHash, jobId: jobs.id, attempt: jobs.attempt, state: jobs.state })
    .from(jobTokens)
    .innerJoin(jobs, eq(jobs.id, jobTokens.jobId))
    .where(and(inArray(jobs.state, unfinishedJobStates), isOver));
}
