import { stringify } from "yaml";

/** Writes steps as people write them. */
export function writeConfiguration(steps: unknown): string {
  return stringify({ steps }, { version: "1.2", aliasDuplicateObjects: false, lineWidth: 0 });
}
