import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Terminal } from "../terminal.ts";
import { cancelStep, getStep, updateStep } from "../wire/requests.ts";
import { retry, waits, whenRetryable } from "../wire/retry.ts";
import { findJob, refuse } from "./find-job.ts";

const options = { waitsMs: waits.steps, isRetryable: whenRetryable };
const defaultGraceSeconds = 10;

interface Place {
  step?: string;
  build?: string;
}

/** `step get`, `step update` and `step cancel`. */
export function stepCommand({ env, stdin, write }: Terminal): Command {
  const step = new Command("step").description("inside a job: steps of the build");
  /** By default, the job's own step. */
  const locate = ({ step: given, build }: Place) => {
    const { client, stepId } = findJob(env);
    return { client, step: given || stepId, members: build === undefined ? {} : { build_id: build } };
  };
  const ofStep = (name: string, description: string) =>
    step
      .command(name)
      .description(description)
      .option("--step <step>", "its id or key; default: the job's own")
      .option("--build <id>", "another build of the cluster, in which the step is");

  ofStep("get", "print an attribute of a step, or all of them")
    .argument("[attribute]", "such as label, state or outcome")
    .addOption(
      new Option("--format <format>", "how to print lists, objects and whole steps").choices(["json"]),
    )
    .action(async (attribute: string | undefined, { format, ...given }: Place & { format?: string }) => {
      const place = locate(given);
      const json = { ...place.members, ...(attribute && { attribute }), ...(format && { format }) };
      const output = await retry(() => getStep(place.client, place.step, json), options).catch(refuse);
      write(`${output}\n`);
    });

  ofStep("update", "change an attribute of a step")
    .argument("<attribute>", "label, priority, parallelism or notify")
    .argument("[value]", "default: standard input")
    .option("--append", "add to the label or the notices")
    .action(
      async (
        attribute: string,
        given: string | undefined,
        { append, ...rest }: Place & { append?: true },
      ) => {
        const place = locate(rest);
        const value = given ?? (await text(stdin));
        // The same uuid on each attempt: the server changes the step once.
        const change = { idempotency_uuid: randomUUID(), attribute, value, append: append === true };
        const json = { ...place.members, ...change };
        await retry(() => updateStep(place.client, place.step, json), options).catch(refuse);
      },
    );

  ofStep("cancel", "cancel the unfinished jobs of a step")
    .option("--force", "end them after the grace period, whatever their agents do")
    .option(
      "--force-grace-period-seconds <seconds>",
      "the grace period of --force",
      parseSeconds,
      defaultGraceSeconds,
    )
    .action(async (given: Place & { force?: true; forceGracePeriodSeconds: number }) => {
      const { force, forceGracePeriodSeconds, ...rest } = given;
      const place = locate(rest);
      const forced = force ? { force, force_grace_period: forceGracePeriodSeconds } : {};
      const json = { ...place.members, ...forced };
      const id = await retry(() => cancelStep(place.client, place.step, json), options).catch(refuse);
      write(`Canceled step ${id}\n`);
    });
  return step;
}

function parseSeconds(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError("It must be a number of seconds.");
  return Number(value);
}
