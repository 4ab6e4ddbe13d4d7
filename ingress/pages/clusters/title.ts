import type { Cluster } from "../../../shared/clusters/store.ts";

/** The name after its emoji. An emoji given by name, such as `:rocket:`, is left out. */
export function clusterTitle({ emoji, name }: Cluster): string {
  return emoji && !emoji.startsWith(":") ? `${emoji} ${name}` : name;
}
