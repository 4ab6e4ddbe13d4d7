import { text } from "node:stream/consumers";
import { Command } from "commander";
import { AgentError, type Terminal } from "../terminal.ts";
import { CallFailed } from "../wire/client.ts";
import { getMetaData, hasMetaData, listMetaData, setMetaData } from "../wire/requests.ts";
import { retry, waits, whenRetryable } from "../wire/retry.ts";
import { findJob, refuse } from "./find-job.ts";

const absentExitCode = 100;

export function metaDataCommand({ env, stdin, write }: Terminal, exitWith: (code: number) => void): Command {
  const metaData = new Command("meta-data").description("inside a job: the build's meta-data");
  const attempt = <T>(call: () => Promise<T>) =>
    retry(call, { waitsMs: waits.metaData, isRetryable: whenRetryable });

  metaData
    .command("get")
    .description("print the value of a key")
    .argument("<key>")
    .option("--default <value>", "the text to print if the key is absent")
    .action(async (key, { default: fallback }) => {
      const { client, jobId } = findJob(env);
      const value = await attempt(() => getMetaData(client, jobId, key)).catch((error: unknown) => {
        const isAbsent = error instanceof CallFailed && error.status === 404;
        return isAbsent && fallback !== undefined ? fallback : refuse(error);
      });
      write(value);
    });

  metaData
    .command("set")
    .description("set a key")
    .argument("<key>")
    .argument("[value]", "default: standard input")
    .action(async (key, given) => {
      const { client, jobId } = findJob(env);
      const value: string = given ?? (await text(stdin));
      if (value.trim() === "") throw new AgentError("The value must not be blank.");
      await attempt(() => setMetaData(client, jobId, { key, value })).catch(refuse);
    });

  metaData
    .command("exists")
    .description(`exit with 0 if the key is there, with ${absentExitCode} if not`)
    .argument("<key>")
    .action(async (key) => {
      const { client, jobId } = findJob(env);
      const exists = await attempt(() => hasMetaData(client, jobId, key)).catch(refuse);
      if (!exists) exitWith(absentExitCode);
    });

  metaData
    .command("keys")
    .description("print all keys, one a line")
    .action(async () => {
      const { client, jobId } = findJob(env);
      const keys = await attempt(() => listMetaData(client, jobId)).catch(refuse);
      write(keys.map((key) => `${key}\n`).join(""));
    });
  return metaData;
}
