import { secondMs } from "../../durations.ts";
import { DeadlineExceeded } from "../../process/threads.ts";
import { type Problem, validationFailed } from "../../refusal.ts";
import { threads, workerThreads } from "../../sharing/resources.ts";
import type { Step } from "../../vocabulary.ts";
import type { NewPipeline } from "../input.ts";
import { ineffectiveMembers } from "../warnings.ts";
import type { parseConfiguration, parseValues, YamlValue } from "./parse.ts";

const parser = new URL("./parse.ts", import.meta.url);
const parse = workerThreads.wrap<typeof parseConfiguration>(parser, "parseConfiguration");
const parseTexts = workerThreads.wrap<typeof parseValues>(parser, "parseValues");

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
  const describeLate = (seconds: number) => ({
    field: "configuration",
    message: `configuration takes longer than ${seconds} seconds to read`,
  });
  const read = await readInTime(organizationId, () => parse(configuration), describeLate);
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

/**
 * Reads texts of YAML off the event loop, as `parseValues` does: all within one deadline. Organizations take turns.
 * @throws Refusal 422 after the deadline, 503
 */
export async function readYamlTexts(
  organizationId: string,
  texts: string[],
  describeLate: DescribeLate,
): Promise<YamlValue[]> {
  if (texts.length === 0) return [];
  return await readInTime(organizationId, () => parseTexts(texts), describeLate);
}

/** Says what was not read within the deadline. */
type DescribeLate = (seconds: number) => Problem;

async function readInTime<T>(
  organizationId: string,
  read: () => Promise<T>,
  describeLate: DescribeLate,
): Promise<T> {
  try {
    return await threads.take(organizationId, read);
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    throw validationFailed(describeLate(error.deadlineMs / secondMs));
  }
}
