import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Exit } from "../command/command.ts";
import type { Client } from "../wire/client.ts";
import { hasMetaData, setMetaData } from "../wire/requests.ts";
import { retry, waits, whenRetryable } from "../wire/retry.ts";
import { emptyCheckout, type JobFolder } from "./folder.ts";

const script = fileURLToPath(new URL("checkout.sh", import.meta.url));
const maxAttempts = 3;

export interface Checkout {
  /** The job's environment. */
  env: Record<string, string>;
  prefix: string;
  folder: JobFolder;
  client: Client;
  jobId: string;
  cancel: AbortSignal;
  run: (argv: string[]) => Promise<Exit>;
}

/** Agents before 3.116 know the phases instead of the switch. */
export function needsCheckout(env: Record<string, string>, prefix: string): boolean {
  const phases = env[`${prefix}_BOOTSTRAP_PHASES`]?.split(",") ?? ["checkout"];
  const isSkipped = env[`${prefix}_SKIP_CHECKOUT`] === "true" || !phases.includes("checkout");
  return !isSkipped && Boolean(env[`${prefix}_REPO`]);
}

/** Clones the repository, three times if it fails, and reports the commit to the server. */
export async function checkOut(checkout: Checkout): Promise<Exit> {
  const { env, prefix, folder, cancel, run } = checkout;
  const description = join(folder.path, "commit");
  const { [`${prefix}_REPO`]: repository = "", [`${prefix}_BRANCH`]: branch = "" } = env;
  const commit = env[`${prefix}_COMMIT`] || "HEAD";
  const submodules = env[`${prefix}_GIT_SUBMODULES`] ?? "";
  const argv = ["/bin/sh", script, description, repository, commit, branch, submodules, refOf(env, prefix)];

  let exit = await run(argv);
  for (let attempt = 2; exit.code !== 0 && attempt <= maxAttempts && !cancel.aborted; attempt++) {
    await emptyCheckout(folder);
    exit = await run(argv);
  }
  const isReported = env[`${prefix}_COMMIT_RESOLVED`] === "true";
  if (exit.code === 0 && !isReported) await reportCommit(checkout, await readFile(description, "utf8"));
  return exit;
}

/** The ref that has the commit, if it is of no branch of the repository: the head of a pull request. Else empty. */
function refOf(env: Record<string, string>, prefix: string): string {
  const { [`${prefix}_REFSPEC`]: refspec, [`${prefix}_PULL_REQUEST`]: number = "" } = env;
  const isOfGithub = env[`${prefix}_PIPELINE_PROVIDER`]?.includes("github") ?? false;
  return refspec || (isOfGithub && /^\d+$/.test(number) ? `refs/pull/${number}/head` : "");
}

/** The first job of a build says which commit HEAD is. */
async function reportCommit({ prefix, client, jobId, cancel }: Checkout, value: string): Promise<void> {
  const key = `${prefix.toLowerCase()}:git:commit`;
  const options = { waitsMs: waits.metaData, isRetryable: whenRetryable, signal: cancel };
  try {
    if (await retry(() => hasMetaData(client, jobId, key), options)) return;
    await retry(() => setMetaData(client, jobId, { key, value: value.trimEnd() }), options);
  } catch {
    // The command can do without.
  }
}
