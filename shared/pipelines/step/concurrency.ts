import { z } from "zod";
import type { CommandStep } from "../../vocabulary.ts";
import { type Members, member } from "./declaration.ts";
import { nullable, optionalText, wholeNumber } from "./forms.ts";

// The members of a command that bound how many of its jobs run at once.

export const maxGroupNameLength = 200;
const maxConcurrency = 1_000_000;

type Concurrency = Pick<CommandStep, "concurrency" | "concurrency_group" | "concurrency_method">;

export const concurrencyMembers: Members<Concurrency> = {
  concurrency: member({
    given: {
      concurrency: wholeNumber("Step concurrency", 1, maxConcurrency).meta({
        description: "Jobs of its concurrency_group that run at once",
      }),
    },
    stored: z.int(),
    words: (jobs) => `${jobs} at once`,
  }),
  concurrency_group: member({
    given: {
      concurrency_group: optionalText("Step concurrency_group", maxGroupNameLength).meta({
        description: "A name in the organization. Needs concurrency",
      }),
    },
    stored: z.string(),
    words: (name) => `in the concurrency group ${name}`,
  }),
  concurrency_method: member({
    given: {
      concurrency_method: nullable(
        z.enum(["ordered", "eager"], { error: "Step concurrency_method must be ordered or eager" }),
      ).meta({ description: "ordered, the default: jobs start in the order of their builds" }),
    },
    parse: ({ concurrency_method }) => (concurrency_method === "eager" ? concurrency_method : undefined),
    stored: z.literal("eager"),
  }),
};
