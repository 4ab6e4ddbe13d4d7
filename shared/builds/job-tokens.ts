import { hashToken, issueToken, isWellFormedToken } from "../crypto/tokens.ts";
import type { Services } from "../runtime/services.ts";
import { findJobOfToken, insertJobToken } from "./meta-data-store.ts";
import type { Build, Job } from "./store.ts";

const handReadingMs = 3_600_000;

/** Who a job token speaks for. */
export interface JobPrincipal {
  jobId: string;
  readOnly: boolean;
  build: Build;
}

/** A token for reading a job's meta-data by hand: read-only, good for one hour, whatever the job's state. */
export async function issueReadingToken(services: Services, job: Job): Promise<string> {
  const now = services.clock.now();
  const token = issueToken("job");
  await services.db.transaction((tx) =>
    insertJobToken(tx, {
      tokenHash: hashToken(token),
      jobId: job.id,
      readOnly: true,
      createdAt: now,
      expiresAt: new Date(now.getTime() + handReadingMs),
    }),
  );
  return token;
}

/** Who speaks with this token; undefined for anything that is not a job token in force. */
export async function findJobPrincipal(services: Services, token: string): Promise<JobPrincipal | undefined> {
  if (!isWellFormedToken("job", token)) return undefined;
  return findJobOfToken(services.db, hashToken(token), services.clock.now());
}
