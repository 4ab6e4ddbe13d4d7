import { z } from "zod";
import { description, queueKey } from "../validation.ts";

// The members of a self-hosted queue as callers send them, by REST and the operator's command alike.

export const queueMembers = { description: description.optional() };

export const newQueue = z.object({
  key: queueKey.meta({ description: "The queue's name in steps and agent tags; it stays" }),
  ...queueMembers,
});
