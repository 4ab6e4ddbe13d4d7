import { z } from "zod";

// Members that many schemas share.

export const id = z.uuid().meta({ description: "UUID" });
export const graphql = z.string().meta({ description: "Id of the resource in GraphQL" });
export const url = z.url();
export const timestamp = z.iso.datetime().meta({ description: "UTC, milliseconds" });

/** The body of a refusal. */
export const problem = z.object({ message: z.string() }).meta({ id: "Problem" });
