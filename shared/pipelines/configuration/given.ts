import { secondMs } from "../../durations.ts";
import { DeadlineExceeded } from "../../process/threads.ts";
import { validationFailed } from "../../refusal.ts";
import { threads, workerThreads } from "../../sharing/resources.ts";
import type { Step } from "../../vocabulary.ts";
import type { NewPipeline } from "../input.ts";
import { ineffectiveMembers } from "../warnings.ts";
import type { Configuration, parseConfiguration, parseValue } from "./parse.ts";

const parser = new URL("./parse.ts", import.meta.url);
const parse = workerThreads.wrap<typeof parseConfiguration>(parser, "parseConfiguration");
const parseOther = workerThreads.wrap<typeof parseValue>(parser, "parseValue");

/** The steps of a pipeline as callers give them: a list, or YAML. */
export interface GivenSteps {
  steps?: Step[] | undefined;
  configuration?: string | undefined;
}

type StepsOfPipeline = Pick<NewPipeline, "configuration" | "document"> & { steps?: Step[] | undefined };

/**
 * Replaces YAML by what it says. Organizations take turns.
 * @throws Refusal 422 with line and column, 503
 */
export async function readGivenSteps(
  organizationId: string,
  { steps, configuration }: GivenSteps,
): Promise<StepsOfPipeline> {
  if (configuration === undefined) return { steps };
  const read = await threads.take(organizationId, () => parseInThread(configuration));
  if ("problems" in read) throw validationFailed(...read.problems);
  const { env, notify, others, steps: ofDocument } = read.pipeline;
  const ineffective = ineffectiveMembers(others);
  const document = {
    ...(env && { env }),
    ...(notify && { notify }),
    ...(ineffective.length > 0 && { ineffective }),
  };
  const hasMore = Object.keys(document).length > 0;
  return { steps: ofDocument, configuration, ...(hasMore && { document }) };
}

/** As `parseConfiguration`, off the event loop. @throws Refusal 422 */
async function parseInThread(configuration: string): Promise<Configuration> {
  try {
    return await parse(configuration);
  } catch (error) {
    throw validationFailed({ field: "configuration", message: `configuration ${describeDeadline(error)}` });
  }
}

/** Reads a short text of YAML off the event loop, as `parseValue` does. Organizations take turns. @throws Refusal 503 */
export function readShortYaml(organizationId: string, text: string): Promise<ReturnType<typeof parseValue>> {
  const parseInTime = () => parseOther(text).catch((error) => ({ problem: describeDeadline(error) }));
  return threads.take(organizationId, parseInTime);
}

/** @throws an error of another kind */
function describeDeadline(error: unknown): string {
  if (!(error instanceof DeadlineExceeded)) throw error;
  return `takes longer than ${error.deadlineMs / secondMs} seconds to read`;
}
