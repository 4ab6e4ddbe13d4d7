import { existsSync } from "node:fs";
import { uploadFiles } from "../artifacts/upload.ts";
import type { Cgroup } from "../command/cgroups.ts";
import { type Command, type Exit, runCommand } from "../command/command.ts";
import { type Client, describe } from "../wire/client.ts";
import type { AcceptedJob } from "../wire/requests.ts";
import { checkOut, needsCheckout } from "./checkout.ts";
import { environmentOf, findPrefix } from "./environment.ts";
import { type JobFolder, makeJobFolder, remove } from "./folder.ts";
import type { LogSender } from "./log.ts";
import { Redactor, secretsOf } from "./redact.ts";
import { openRedactions } from "./redactions.ts";

/** The end of a job, in the words of the wire. */
export interface Result {
  /** An integer; -1 if a signal ended the command or it did not run. */
  exitStatus: string;
  signal?: string;
  reason?: "process_run_error" | "agent_refused";
}

export interface Steps {
  job: AcceptedJob;
  client: Client;
  log: LogSender;
  cancel: AbortSignal;
  buildPath: string;
  limit?: ((jobId: string) => Cgroup) | undefined;
}

/** Runs a job's checkout and command in a fresh folder, which is removed afterwards. */
export async function runSteps(steps: Steps): Promise<Result> {
  const { job, log } = steps;
  const prefix = findPrefix(job.env, job.id);
  const refusal = reasonToRefuse(job.env, prefix);
  const say = (text: string) => log.write(Buffer.from(`${text}\n`));
  if (refusal) {
    await say(refusal);
    return { exitStatus: "-1", reason: "agent_refused" };
  }
  let folder: JobFolder | undefined;
  let cgroup: Cgroup | undefined;
  try {
    cgroup = steps.limit?.(job.id);
    folder = await makeJobFolder(steps.buildPath, prefix);
    const result = await runIn(folder, { prefix, cgroup: cgroup?.path }, steps);
    if (cgroup?.hasRunOutOfMemory())
      await say("A process was killed: the job needs more memory than it has.");
    return result;
  } catch (error) {
    await say(`The agent could not run the command: ${describe(error)}`);
    return { exitStatus: "-1", reason: "process_run_error" };
  } finally {
    if (folder) await removeFolder(folder, say);
    cgroup?.remove();
  }
}

async function runIn(
  folder: JobFolder,
  { prefix, cgroup }: { prefix: string; cgroup: string | undefined },
  { job, client, log, cancel, buildPath }: Steps,
): Promise<Result> {
  const env = environmentOf(job.env, {
    prefix,
    endpoint: client.endpoint,
    token: client.token,
    binFolder: folder.bin,
    buildPath,
    checkoutFolder: folder.checkout,
  });
  const redactor = new Redactor(secretsOf(env));
  const readRedactions = openRedactions(folder.bin);
  const redact = (bytes: Buffer) => {
    redactor.add(readRedactions());
    return redactor.push(bytes);
  };
  const run = async (argv: string[]) => {
    const command: Command = {
      argv,
      cwd: folder.checkout,
      env,
      folder: folder.path,
      cgroup,
      onOutput: (bytes) => log.write(redact(bytes)),
      cancel,
    };
    try {
      return await runCommand(command);
    } finally {
      await log.write(redactor.end());
    }
  };

  if (needsCheckout(job.env, prefix)) {
    const exit = await checkOut({ env: job.env, prefix, folder, client, jobId: job.id, cancel, run });
    if (exit.code !== 0) return toResult(exit);
  }
  if (cancel.aborted) return { exitStatus: "-1" };
  const result = toResult(await run([...shell(), "-c", job.env[`${prefix}_COMMAND`] ?? ""]));
  const patterns = env[`${prefix}_ARTIFACT_PATHS`]?.trim();
  if (!patterns || cancel.aborted) return result;
  const say = (line: string) => log.write(redact(Buffer.from(`${line}\n`)));
  const buildId = env[`${prefix}_BUILD_ID`] ?? "";
  const place = { job: { client, jobId: job.id, buildId, binFolder: folder.bin }, folder: folder.checkout };
  try {
    await uploadFiles(patterns, { ...place, say, signal: cancel });
    return result;
  } catch (error) {
    await say(describe(error));
    return result.exitStatus === "0" ? { exitStatus: "1" } : result;
  } finally {
    await log.write(redactor.end());
  }
}

function reasonToRefuse(env: Record<string, string>, prefix: string): string | undefined {
  if (!env[`${prefix}_COMMAND`]?.trim()) return "The step has no command.";
  const plugins = env[`${prefix}_PLUGINS`]?.trim();
  return plugins && plugins !== "[]"
    ? "This agent runs no plugins: the step needs another agent."
    : undefined;
}

function shell(): [string, string] {
  return [existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh", "-e"];
}

function toResult({ code, signal }: Exit): Result {
  return code === null ? { exitStatus: "-1", ...(signal ? { signal } : {}) } : { exitStatus: String(code) };
}

async function removeFolder(folder: JobFolder, say: (text: string) => Promise<void>): Promise<void> {
  try {
    await remove(folder.path);
  } catch (error) {
    await say(`The job's folder could not be removed: ${describe(error)}`);
  }
}
