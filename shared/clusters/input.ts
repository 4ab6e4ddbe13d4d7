import { z } from "zod";
import { clusterName, description, text } from "../validation.ts";

// The members of a cluster as callers send them, by REST and the operator's command alike.

export const clusterMembers = {
  description: description.optional(),
  emoji: text("Emoji", 100).nullish(),
  color: text("Color", 100).nullish(),
};

export const newCluster = z.object({ name: clusterName, ...clusterMembers });
