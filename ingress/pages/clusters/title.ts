import type { Cluster } from "../../../shared/clusters/store.ts";

/** `🚀 Primary`. An emoji given as `:rocket:` is left out. */
export function clusterTitle({ emoji, name }: Cluster): string {
  return emoji && !emoji.startsWith(":") ? `${emoji} ${name}` : name;
}
