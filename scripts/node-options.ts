import { join } from "node:path";

/** The path is absolute: some programs run in another folder. */
export const loaders = [
  "--import",
  "tsx",
  "--import",
  join(import.meta.dirname, "../shared/process/drizzle-modules.ts"),
];

/**
 * Options of servers, agents and `npm start`, as the Procfile, package.json, the units and the image give them too.
 * V8 can only be told at its start: its young generation would grow to 96 MB, whose collections stop the event loop
 * for 10 ms. Of 12 MB they take 1 to 2 ms.
 */
export const programOptions = ["--max-semi-space-size=4", ...loaders];
