import { z } from "zod";
import { type Given, inputOf } from "../members/bodies.ts";
import type { Members } from "../members/member.ts";
import { blankToNull, pauseNote, text } from "../validation.ts";
import type { AgentToken } from "./token-store.ts";

/** A week. */
const maxPauseMinutes = 7 * 24 * 60;
const notMinutes = { error: `Timeout in minutes must be a whole number from 1 to ${maxPauseMinutes}` };
const pauseMinutes = z.int(notMinutes).min(1, notMinutes).max(maxPauseMinutes, notMinutes);

export const agentPause = z.object({
  note: pauseNote.nullish(),
  timeout_in_minutes: pauseMinutes
    .nullish()
    .meta({ description: "Resume after this time; absent: until somebody resumes it" }),
});

const everyAddress = "0.0.0.0/0";
const everyIpv6Address = "::/0";

const description = text("Description", 255)
  .nullable()
  .transform((given) => blankToNull(given) ?? "");

const allowedIpAddresses = z
  .string({ error: "Allowed IP addresses must be text" })
  .refine(isEveryAddress, {
    error: `Allowed IP addresses are not supported: leave them out, or set ${everyAddress}`,
  })
  .nullish()
  .meta({ description: `Only ${everyAddress}: a token registers agents of any address` });

function isEveryAddress(given: string): boolean {
  const ranges = given.split(/\s+/).filter(Boolean);
  if (ranges.length === 0) return true;
  return (
    ranges.includes(everyAddress) && ranges.every((each) => [everyAddress, everyIpv6Address].includes(each))
  );
}

type Kept =
  | ("id" | "organizationId" | "clusterId" | "tokenHash" | "createdAt" | "createdById")
  | ("lastUsedAt" | "revokedAt");

/** The members of a token that registers agents. */
export const agentTokenMembers = {
  description: {
    rule: null,
    create: description.optional().transform((given) => given ?? ""),
    change: description.optional(),
    shown: z.string(),
    audited: "values",
    field: { label: "Description", hint: "Its purpose, so that you recognize it later." },
  },
  allowedIpAddresses: {
    rule: `\`${everyAddress}\`, also with \`${everyIpv6Address}\`: everything. Others are 422`,
    create: allowedIpAddresses,
    change: allowedIpAddresses,
    shown: z.literal(everyAddress),
    show: () => everyAddress,
    audited: null,
  },
  queueId: {
    rule: "it registers agents of this queue only; never changes",
    create: z
      .string({ error: "Queue must be a queue of the cluster" })
      .nullish()
      .meta({ description: "Register agents of this queue only" })
      .transform((given) => given ?? null),
    shown: z
      .uuid()
      .meta({ description: "UUID" })
      .nullable()
      .meta({ description: "The only queue of its agents; null: any" }),
    audited: null,
    field: { label: "For the queue", name: "queue", kind: "choice" },
  },
  expiresAt: {
    rule: "a future time, at which registering ends; never changes",
    create: z.iso
      .datetime({ offset: true, error: "Expiry must be a time like 2026-01-31T12:00:00Z" })
      .nullish()
      .meta({ description: "End registering at this time" })
      .transform((given) => (given ? new Date(given) : null)),
    shown: z.iso.datetime().meta({ description: "UTC, milliseconds" }).nullable(),
    audited: null,
  },
} satisfies Members<AgentToken, Kept, "allowedIpAddresses">;

export type NewAgentToken = Omit<Given<typeof agentTokenMembers, "create">, "allowedIpAddresses">;
export type AgentTokenChange = Omit<Given<typeof agentTokenMembers, "change">, "allowedIpAddresses">;
export const newAgentToken = inputOf(agentTokenMembers, "create");
export const agentTokenChange = inputOf(agentTokenMembers, "change");
