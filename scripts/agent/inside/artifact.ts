import { Command } from "commander";
import { downloadFiles } from "../artifacts/download.ts";
import { uploadFiles } from "../artifacts/upload.ts";
import { AgentError, plain, type Terminal } from "../terminal.ts";
import { type FoundArtifact, searchArtifacts } from "../wire/requests.ts";
import { retry, waits, whenRetryable } from "../wire/retry.ts";
import { findJob, refuse } from "./find-job.ts";

interface SearchOptions {
  step?: string;
  build?: string;
  includeRetriedJobs?: true;
  sha256?: true;
}

/** Artifacts are found by a path, in which `*` is any run of characters. */
export function artifactCommand({ env, write, writeError }: Terminal): Command {
  const artifact = new Command("artifact").description("inside a job: files that jobs leave");

  /** @throws AgentError if there is none */
  const search = async (query: string, { step, build, includeRetriedJobs }: SearchOptions) => {
    const { client, buildId } = findJob(env);
    const options = { query, scope: step, includesRetriedJobs: includeRetriedJobs === true };
    const found = await retry(() => searchArtifacts(client, build ?? buildId, options), {
      waitsMs: waits.artifacts,
      isRetryable: whenRetryable,
    }).catch(refuse);
    if (found.length === 0) throw new AgentError(`No artifact matches ${query}.`);
    return found;
  };
  const searching = (name: string) =>
    artifact
      .command(name)
      .argument("<query>", "a path; * is any run of characters")
      .option("--step <scope>", "of the jobs of this step: its key or label; or the id of a job")
      .option("--build <id>", "of another build of the cluster")
      .option("--include-retried-jobs", "also of jobs that were retried");

  artifact
    .command("upload")
    .description("upload the files that patterns match")
    .argument("<patterns>", "such as 'log/**/*.txt'; with ; between them")
    .action((patterns: string) => {
      const say = (line: string) => writeError(`${line}\n`);
      return uploadFiles(patterns, { job: findJob(env), folder: process.cwd(), say });
    });

  searching("download")
    .description("download artifacts, each to its path below a folder")
    .argument("[destination]", "the folder; of one artifact the file, unless it ends with /", ".")
    .action(async (query: string, destination: string, options: SearchOptions) =>
      downloadFiles(await search(query, options), destination),
    );

  searching("search")
    .description("print the job, path and time of each artifact, one a line")
    .action(async (query: string, options: SearchOptions) => {
      const line = ({ job_id, path, created_at }: FoundArtifact) =>
        `${job_id} ${plain(path)} ${created_at}\n`;
      write((await search(query, options)).map(line).join(""));
    });

  searching("shasum")
    .description("print the SHA-1 of one artifact")
    .option("--sha256", "its SHA-256 instead")
    .action(async (query: string, options: SearchOptions) => {
      const [found, ...others] = await search(query, options);
      if (!found || others.length > 0) throw new AgentError(`Several artifacts match ${query}.`);
      write(`${options.sha256 ? found.sha256sum : found.sha1sum}\n`);
    });
  return artifact;
}
