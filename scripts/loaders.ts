import { join } from "node:path";

/** The options of node that programs start with. The path is absolute: some run in another folder. */
export const loaders = [
  "--import",
  "tsx",
  "--import",
  join(import.meta.dirname, "../shared/process/drizzle-modules.ts"),
];
