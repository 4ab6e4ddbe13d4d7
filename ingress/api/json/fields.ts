import { z } from "zod";

// Kinds of members that many answers have.

export const id = z.uuid().meta({ description: "UUID" });
export const graphql = z.string().meta({ description: "Id of the resource in GraphQL" });
export const url = z.url();
export const timestamp = z.iso.datetime().meta({ description: "UTC, milliseconds" });

/** What every refusal is: a sentence for the caller. */
export const problem = z.object({ message: z.string() }).meta({ id: "Problem" });
