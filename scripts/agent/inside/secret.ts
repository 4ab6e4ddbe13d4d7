import { Command, InvalidArgumentError, Option } from "commander";
import type { Terminal } from "../terminal.ts";
import { getSecret, requestIdentityToken } from "../wire/requests.ts";
import { retry, waits, whenRetryable } from "../wire/retry.ts";
import { findJob, hideFromLog, refuse } from "./find-job.ts";

const options = { waitsMs: waits.secrets, isRetryable: whenRetryable };

/** `secret get`. */
export function secretCommand({ env, write }: Terminal): Command {
  const secret = new Command("secret").description("inside a job: secrets of its cluster");
  secret
    .command("get")
    .description("print the value of a secret, or those of several as a JSON object")
    .argument("<keys...>")
    .addOption(new Option("--format <format>").choices(["default", "json"]).default("default"))
    .action(async (keys: string[], { format }) => {
      const job = findJob(env);
      const values: Record<string, string> = {};
      for (const key of keys)
        values[key] = await retry(() => getSecret(job.client, job.jobId, key), options).catch(refuse);
      const printed = Object.values(values).flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]);
      hideFromLog(job, printed);
      const [first = ""] = Object.values(values);
      const isAlone = keys.length === 1 && format === "default";
      write(isAlone ? first : `${JSON.stringify(values)}\n`);
    });
  return secret;
}

/** `oidc request-token`. */
export function identityTokenCommand({ env, write }: Terminal): Command {
  const oidc = new Command("oidc").description("inside a job: tokens by which others know it");
  oidc
    .command("request-token")
    .description("print an identity token of the job")
    .option("--audience <name>", "who is to accept it; default: the organization's page")
    .option("--lifetime <seconds>", "default: five minutes", parseSeconds)
    .option("--claim <name>", "add a claim; may be given several times", collect, [])
    .option("--aws-session-tag <name>", "a claim as a session tag of AWS, several times too", collect, [])
    .option("--subject-claim <name>", "the claim whose value is the subject")
    .action(async ({ audience, lifetime, claim, awsSessionTag, subjectClaim }) => {
      const job = findJob(env);
      const wanted = {
        audience,
        lifetime,
        subject_claim: subjectClaim,
        ...(claim.length > 0 && { claims: claim }),
        ...(awsSessionTag.length > 0 && { aws_session_tags: awsSessionTag }),
      };
      const token = await retry(() => requestIdentityToken(job.client, job.jobId, wanted), options).catch(
        refuse,
      );
      hideFromLog(job, [token]);
      write(`${token}\n`);
    });
  return oidc;
}

function collect(value: string, before: string[]): string[] {
  return [...before, ...value.split(",").filter(Boolean)];
}

function parseSeconds(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError("It must be a number of seconds.");
  return Number(value);
}
