import type { Job } from "../builds/job-store.ts";
import { excerpt } from "../refusal.ts";
import type { Agent } from "./store.ts";
import { isVersionAtLeast } from "./version.ts";

/** Agents since this version fetch the secrets of a step. Older ones would run its command without them. */
const secretsSince = [3, 106] as const;

/** The reason why an agent of this version cannot run a job. Undefined: it can. */
export function findIncompatibility(
  { options }: Job,
  { version }: Pick<Agent, "version">,
): string | undefined {
  if (!options?.secrets || isVersionAtLeast(version, secretsSince)) return undefined;
  return `Its step has secrets, which agents fetch since version ${secretsSince.join(".")}. The agent has ${excerpt(version)}`;
}
