import type { Job } from "../builds/rows/job-store.ts";
import { excerpt } from "../refusal.ts";
import type { Agent } from "./store.ts";
import { isVersionAtLeast } from "./version.ts";

/** Agents since this version fetch the secrets of a step. Older ones would run its command without them. */
const secretsSince = [3, 106] as const;
/** Agents since this version use an SSH key of the server. Older ones would give it to the command, and not to git. */
const sshKeySince = [3, 128] as const;

/** The reason why an agent of this version cannot run a job. Undefined: it can. */
export function findIncompatibility(
  { options }: Job,
  { version }: Pick<Agent, "version">,
): string | undefined {
  const needs = [
    { has: options?.secrets, since: secretsSince, words: "Its step has secrets, which agents fetch" },
    {
      has: options?.checkout?.ssh_secret,
      since: sshKeySince,
      words: "Its checkout has an ssh_secret, which agents use",
    },
  ];
  const unmet = needs.find(({ has, since }) => has !== undefined && !isVersionAtLeast(version, since));
  return unmet && `${unmet.words} since version ${unmet.since.join(".")}. The agent has ${excerpt(version)}`;
}
