import { stringify } from "yaml";

/** Writes steps as people write them. */
export function writeConfiguration(steps: unknown): string {
  return writeYaml({ steps });
}

export function writeYaml(value: unknown): string {
  return stringify(value, { version: "1.2", aliasDuplicateObjects: false, lineWidth: 0 });
}
