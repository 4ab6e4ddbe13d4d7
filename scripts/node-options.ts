import { join } from "node:path";

/** The path is absolute: some programs run in another folder. */
export const loaders = [
  "--import",
  "tsx",
  "--import",
  join(import.meta.dirname, "../shared/process/drizzle-modules.ts"),
];

/**
 * Servers and agents have it: it stands in the Procfile, package.json, the units, the Dockerfile and compose.yaml too.
 * V8 takes it at its start only. By default the young generation grows to 96 MB, and its collection stops the event
 * loop for 10 ms. With semi-spaces of 4 MB it has 12 MB, and a collection takes 1 to 2 ms.
 */
export const youngGeneration = "--max-semi-space-size=4";
