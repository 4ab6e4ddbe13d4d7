import type { Build } from "../../builds/rows/build-store.ts";
import { isOfFork } from "../../builds/rows/facts.ts";
import type { Job } from "../../builds/rows/job-store.ts";
import { SealedUnderOtherKey } from "../../crypto/cipher.ts";
import { excerpt, Refusal } from "../../refusal.ts";
import { readSecret } from "../../secrets/read.ts";
import type { Services } from "../../services/services.ts";

/**
 * Reads the SSH key that a step's checkout names, by the same rules as a job that reads a secret itself. Nothing stores
 * it: agents that ask again get it anew.
 * @returns the reason if the job cannot have it, so that it does not run with another key
 */
export async function readCheckoutKey(
  services: Services,
  { job, build }: { job: Job; build: Build },
): Promise<{ sshKey?: string } | { problem: string }> {
  const key = job.options?.checkout?.ssh_secret;
  if (key === undefined) return {};
  if (isOfFork(build))
    return { problem: `Its checkout needs the secret ${excerpt(key)}, and builds of forks get no secrets` };
  try {
    return { sshKey: (await readSecret(services, { queueId: job.queueId, build }, key)).value };
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    return { problem: `Its checkout needs the secret ${excerpt(key)}, ${reason}` };
  }
}

/** Undefined: the server could not look, and the agent asks again. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof SealedUnderOtherKey) return "which SECRET_KEY does not open";
  if (!(error instanceof Refusal)) return undefined;
  if (error.status === 404) return "which its cluster does not have";
  return error.status === 403 ? "whose policy does not let this job read it" : undefined;
}
