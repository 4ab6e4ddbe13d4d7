import { gzipSync } from "node:zlib";
import { hashToken } from "../../../shared/crypto/tokens.ts";
import { sendAsAgent } from "../../../test/helpers/agent.ts";
import type { Run } from "../installation/marks.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger } from "./read.ts";

const maxRuns = 40;
const bytes = gzipSync("late\n");

/** Checks that late writes of ended leases are refused. Call it after the end: its requests must change nothing. */
export async function checkStaleWrites(
  url: string,
  { jobs, jobTokens }: Pick<Ledger, "jobs" | "jobTokens">,
  runs: Run[],
): Promise<{ sent: number; discrepancies: Discrepancy[] }> {
  const discrepancies: Discrepancy[] = [];
  let sent = 0;
  const stale = runs.flatMap(({ jobId, token }) => {
    const attempt = jobTokens.find(({ tokenHash }) => tokenHash === hashToken(token))?.attempt;
    const job = jobs.find(({ id }) => id === jobId);
    return job && attempt != null ? [{ token, job, isLast: attempt === job.attempt }] : [];
  });
  // Those of earlier attempts first.
  for (const { token, job, isLast } of stale.sort((a, b) => +a.isLast - +b.isLast).slice(0, maxRuns)) {
    const path = `/jobs/${job.id}`;
    const finish = { exit_status: "0", finished_at: new Date().toISOString(), chunks_failed_count: 0 };
    const answers = {
      start: await sendAsAgent(url, token, { method: "PUT", path: `${path}/start`, body: {} }),
      chunk: await fetch(`${url}/v3${path}/chunks?sequence=99999&offset=0&size=5`, {
        method: "POST",
        headers: {
          Authorization: `Token ${token}`,
          "Content-Type": "text/plain",
          "Content-Encoding": "gzip",
        },
        body: bytes,
      }),
      finish: await sendAsAgent(url, token, { method: "PUT", path: `${path}/finish`, body: finish }),
    };
    for (const [call, { status }] of Object.entries(answers)) {
      sent++;
      // A repeated finish of the last attempt is answered as the first was. Old agents stop at 422 alone.
      const refused = call === "finish" ? 422 : 404;
      const expected = call === "finish" && isLast ? [200, refused] : [refused];
      if (!expected.includes(status))
        discrepancies.push(discrepancy("leases", `a stale ${call} of job ${job.id} is answered ${status}`));
    }
  }
  return { sent, discrepancies };
}
