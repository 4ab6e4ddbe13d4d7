import { text } from "node:stream/consumers";
import { Command, InvalidArgumentError, Option } from "commander";
import { annotationScopes, annotationStyles } from "../../../shared/vocabulary.ts";
import type { Terminal } from "../terminal.ts";
import { annotate, removeAnnotation } from "../wire/requests.ts";
import { retry, waits, whenRetryable } from "../wire/retry.ts";
import { findJob, refuse } from "./find-job.ts";

const options = { waitsMs: waits.annotations, isRetryable: whenRetryable };
const scopeOption = () =>
  new Option("--scope <scope>", "annotate the build or the job").choices(annotationScopes).default("build");

/** `annotate` and `annotation remove`. */
export function annotationCommands({ env, stdin }: Terminal): Command[] {
  const annotateCommand = new Command("annotate")
    .description("inside a job: tell the readers of the build something")
    .argument("[body]", "Markdown; default: standard input")
    .option("--context <name>", "the same context changes its annotation", "default")
    .addOption(new Option("--style <style>").choices(annotationStyles))
    .option("--priority <number>", "1 to 10; 10 is on top", parsePriority)
    .option("--append", "add to the body that is there")
    .addOption(scopeOption())
    .action(async (given: string | undefined, members) => {
      const { client, jobId } = findJob(env);
      const body = given ?? (await text(stdin));
      const annotation = { ...(body && { body }), ...members };
      await retry(() => annotate(client, jobId, annotation), options).catch(refuse);
    });

  const annotation = new Command("annotation").description("inside a job: annotations of the build");
  annotation
    .command("remove")
    .description("remove the annotation of a context")
    .option("--context <name>", "its context", "default")
    .addOption(scopeOption())
    .action(async ({ context, scope }) => {
      const { client, jobId } = findJob(env);
      await retry(() => removeAnnotation(client, jobId, { context, scope }), options).catch(refuse);
    });
  return [annotateCommand, annotation];
}

function parsePriority(value: string): number {
  if (!/^(?:[1-9]|10)$/.test(value)) throw new InvalidArgumentError("It must be a number from 1 to 10.");
  return Number(value);
}
