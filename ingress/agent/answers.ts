import { z } from "zod";

export const tag = "Agent API";

/** Agents read no member of it. */
export const done = { status: 200, schema: z.object({}), description: "Done" } as const;

/** The only status of success that the calls have. */
export function answer(schema: z.ZodType, description = "Done") {
  return { status: 200, schema, description } as const;
}
