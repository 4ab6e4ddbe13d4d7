import { validationFailed } from "../../refusal.ts";
import { threads } from "../../sharing/resources.ts";
import type { Step } from "../../vocabulary.ts";
import type { NewPipeline } from "../input.ts";
import { ineffectiveMembers } from "../warnings.ts";
import { openConfigurationReader } from "./reader.ts";

/** The steps of a pipeline as callers give them: a list, or YAML. */
export interface GivenSteps {
  steps?: Step[] | undefined;
  configuration?: string | undefined;
}

type StepsOfPipeline = Pick<NewPipeline, "configuration" | "document"> & { steps?: Step[] | undefined };

/** Reads the YAML of pipelines. */
export interface Configurations {
  /**
   * Replaces YAML by what it says. Organizations take turns.
   * @throws Refusal 422 with line and column, 503
   */
  read(organizationId: string, given: GivenSteps): Promise<StepsOfPipeline>;
  close(): Promise<void>;
}

export function openConfigurations(): Configurations {
  const reader = openConfigurationReader();
  return {
    async read(organizationId, { steps, configuration }) {
      if (configuration === undefined) return { steps };
      const read = await threads.take(organizationId, () => reader.read(configuration));
      if ("problems" in read) throw validationFailed(...read.problems);
      const { env, others, steps: ofDocument } = read.pipeline;
      const ineffective = ineffectiveMembers(others);
      const document = { ...(env && { env }), ...(ineffective.length > 0 && { ineffective }) };
      const hasMore = Object.keys(document).length > 0;
      return { steps: ofDocument, configuration, ...(hasMore && { document }) };
    },
    close: () => reader.close(),
  };
}
