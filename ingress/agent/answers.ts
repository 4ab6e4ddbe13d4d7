import { z } from "zod";
import { Refusal } from "../../shared/refusal.ts";

export const tag = "Agent API";

/** Agents read no member of it. */
export const done = { status: 200, schema: z.object({}), description: "Done" } as const;

/** The only status of success that the calls have. */
export function answer(schema: z.ZodType, description = "Done") {
  return { status: 200, schema, description } as const;
}

/**
 * Says 400 for 422. Old agents repeat most refused calls of programs in jobs, some for 45 seconds, unless they are 400,
 * 401 or 404. Calls that set meta-data stop at the last two only.
 */
export async function toBadRequest(refusal: Refusal): Promise<Refusal> {
  return refusal.status === 422 ? new Refusal(400, refusal.message) : refusal;
}
