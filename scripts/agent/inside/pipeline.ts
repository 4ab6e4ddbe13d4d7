import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { secondMs } from "../../../shared/durations.ts";
import { AgentError, type Terminal } from "../terminal.ts";
import { describe } from "../wire/client.ts";
import { readUpload, type Upload, uploadPipeline } from "../wire/requests.ts";
import { retry, waits, whenRetryable } from "../wire/retry.ts";
import { findJob, type InsideJob, refuse } from "./find-job.ts";

/** Where the hosted service's agent looks, in its order. */
const folders = ["buildkite", ".buildkite/pipeline", "buildkite/pipeline"];
const places = folders.flatMap((path) => ["yml", "yaml", "json"].map((ending) => `${path}.${ending}`));

/** Makes the command `signalbox-agent pipeline`. */
export function pipelineCommand({ env, stdin }: Terminal): Command {
  const pipeline = new Command("pipeline").description("inside a job: the build's steps");
  pipeline
    .command("upload")
    .description("add steps to the build, after the step of this job")
    .argument("[file]", `JSON or YAML; - is standard input (default: the one of ${places.join(", ")})`)
    .option("--replace", "cancel the build's steps that have not started")
    .action(async (given: string | undefined, { replace }) => {
      const job = findJob(env);
      const file = given ?? findPipelineFile();
      const steps = await parseSteps(file === "-" ? await text(stdin) : await readSteps(file), file);
      await upload(job, { uuid: randomUUID(), pipeline: steps, ...(replace ? { replace } : {}) });
    });
  return pipeline;
}

/** @throws AgentError if there is none, or more than one */
function findPipelineFile(): string {
  const [found, ...others] = places.filter((path) => existsSync(path));
  if (found === undefined)
    throw new AgentError(`There is no file of steps here. It must be one of ${places.join(", ")}.`);
  if (others.length > 0)
    throw new AgentError(`There are several files of steps: ${[found, ...others].join(", ")}. Name one.`);
  return found;
}

/** The same uuid on each attempt: the server adds the steps once. */
async function upload({ client, jobId }: InsideJob, body: Upload): Promise<void> {
  const options = { waitsMs: waits.upload, isRetryable: whenRetryable };
  const isDone = await retry(() => uploadPipeline(client, jobId, body), options).catch(refuse);
  for (let polls = 0; !isDone; polls++) {
    await sleep(secondMs);
    const { state, message } = await retry(() => readUpload(client, jobId, body.uuid), options).catch(refuse);
    if (state === "applied") return;
    if (state === "rejected" || state === "failed" || polls >= waits.upload.length) {
      throw new AgentError(`The server did not add the steps: ${message ?? state}.`);
    }
  }
}

async function readSteps(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new AgentError(`The file ${file} cannot be read: ${describe(error)}.`);
  }
}

/** A list is a pipeline's steps. */
async function parseSteps(source: string, file: string): Promise<object> {
  // An agent that waits for jobs needs none. Loaded so, a package in CommonJS has only its default export in a bundle.
  const { default: yaml } = await import("yaml");
  try {
    const parsed: unknown = yaml.parse(source, { merge: true });
    if (Array.isArray(parsed)) return { steps: parsed };
    if (typeof parsed === "object" && parsed !== null) return parsed;
  } catch (error) {
    throw new AgentError(`${file} is neither JSON nor YAML: ${describe(error)}`);
  }
  throw new AgentError(`${file} must have steps.`);
}
