import { z } from "zod";
import { type Given, inputOf } from "../members/bodies.ts";
import type { Members } from "../members/member.ts";
import { isNetwork } from "../networks.ts";
import { blankToNull, text } from "../validation.ts";
import type { Connection } from "./store.ts";
import { connectionTypes } from "./types.ts";

const maxUrlLength = 500;
const maxTokenLength = 1000;
const maxNetworks = 50;

const isMissing = (value: unknown) => value === undefined || value === null || value === "";
const type = z.enum(connectionTypes, {
  error: ({ input }) =>
    isMissing(input) ? "Type can't be blank" : `Type must be one of ${connectionTypes.join(" ")}`,
});

/** An address without a path at its end, such as `https://git.example.com/gitlab`. */
function httpAddress(name: string) {
  return text(name, maxUrlLength)
    .refine((given) => given.trim() === "" || isBaseAddress(given.trim()), {
      error: `${name} must be an address such as https://git.example.com`,
      when: ({ value }) => typeof value === "string" && value.length <= maxUrlLength,
    })
    .transform((given) => blankToNull(given)?.trim().replace(/\/+$/, "") ?? null);
}

function isBaseAddress(given: string): boolean {
  const url = URL.parse(given);
  return (
    url !== null &&
    /^https?:\/\/[\x21-\x7e]+$/.test(given) &&
    !url.username &&
    !url.password &&
    !/[?#]/.test(given)
  );
}

const url = httpAddress("URL");
const apiUrl = httpAddress("API URL").nullish();

const token = text("Token", maxTokenLength)
  .regex(/^\s*[\x21-\x7e]*\s*$/, "Token must be one word of letters, digits and signs")
  .nullish()
  .transform((given) => (given === undefined ? undefined : (blankToNull(given)?.trim() ?? null)));

const publishStatuses = z.boolean({ error: "Publish statuses must be true or false" }).optional();

const notNetworks = `Webhook allowed addresses must be a list of at most ${maxNetworks} CIDR ranges`;
const webhookAllowedAddresses = z
  .array(z.string({ error: notNetworks }), { error: notNetworks })
  .min(1, notNetworks)
  .max(maxNetworks, notNetworks)
  .refine((list) => list.every((each) => typeof each !== "string" || isNetwork(each)), notNetworks)
  .nullish();

type Kept =
  | ("id" | "organizationId" | "host" | "tokenSealed" | "failingSince" | "restsUntil" | "failureMailedAt")
  | ("createdAt" | "createdById" | "updatedAt" | "updatedById");

/** The members of a repository connection. */
export const connectionMembers = {
  type: {
    rule: `\`${connectionTypes.join("`, `")}\`; never changes`,
    create: type,
    shown: z.enum(connectionTypes),
    audited: null,
    field: { label: "Kind of host", kind: "choice" },
    option: ["<type>", `its kind: ${connectionTypes.join(", ")}`],
  },
  url: {
    rule: "the address of the host, such as `https://git.example.com`, whose host name is unique in the organization. `github`, `gitlab` and `bitbucket` have only the public one, the default. Answers have it as `host.url`, because `url` is that of the connection",
    create: url.nullish(),
    change: url.optional(),
    shown: null,
    audited: "values",
    field: {
      label: "Address",
      hint: "That of the host itself: repositories are found by its name.",
      placeholder: "https://git.example.com",
      kind: "name",
    },
    option: ["<url>", "the address of the host, if it is your own"],
  },
  apiUrl: {
    rule: "the base address of its API, if not the usual one",
    create: apiUrl,
    change: apiUrl,
    shown: z.string().nullable(),
    audited: "values",
    field: {
      label: "Address of its API",
      hint: "Empty: the usual one.",
      kind: "name",
    },
    option: ["<url>", "the base address of its API; default: the usual one of its type"],
  },
  token: {
    rule: "encrypted, never shown; null: the host is never called",
    create: token,
    change: token,
    shown: null,
    audited: "name",
    field: { label: "Token", kind: "name" },
  },
  publishStatuses: {
    rule: "default true",
    create: publishStatuses,
    change: publishStatuses,
    default: true,
    shown: z.boolean(),
    audited: "values",
    fromText: (given) => (given === "true" ? true : given === "false" ? false : given),
    field: { label: "Send commit statuses to this host", kind: "check" },
    option: ["<boolean>", "if commits get statuses; default: true"],
  },
  webhookAllowedAddresses: {
    rule: "at most 50 CIDR ranges that may send webhooks of its repositories; null: all",
    create: webhookAllowedAddresses,
    change: webhookAllowedAddresses,
    shown: z.array(z.string()).nullable(),
    audited: "values",
    fromText: (given) => (given.trim() === "" ? null : given.split(/[\s,]+/).filter(Boolean)),
    field: {
      label: "Networks that may send webhooks",
      hint: "CIDR ranges, such as 192.0.2.0/24, with commas between them. Empty: all.",
      kind: "code",
    },
    option: ["<CIDRs>", "networks that may send webhooks, with commas between them; default: all"],
  },
} satisfies Members<Connection, Kept, "token">;

export type NewConnection = Given<typeof connectionMembers, "create">;
export type ConnectionChange = Given<typeof connectionMembers, "change">;
export const newConnection = inputOf(connectionMembers, "create");
export const connectionChange = inputOf(connectionMembers, "change");
