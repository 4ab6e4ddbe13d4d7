import { z } from "zod";
import { isMap } from "../collections.ts";
import { stripControls } from "../control-characters.ts";
import { toStorable } from "../validation.ts";
import type { Person, ReadRepository } from "./happened.ts";

// The names that payloads bring. All of them reach agents, and some of them commands of git.

const maxNameLength = 255;
const maxAddressLength = 2000;

/** Matches names that git-check-ref-format(1) refuses, and a `-` at the beginning, which commands take for an option. */
const unsoundName = /^[-/]|[/.]$|\/\/|\.\.|@\{|(^|\/)\.|\.lock(\/|$)|^@$|[\p{Cc}\p{Zs}\u2028\u2029~^:?*[\\]/u;

function isSoundName(name: string): boolean {
  return name !== "" && name.length <= maxNameLength && name.isWellFormed() && !unsoundName.test(name);
}

/** The name of a branch or tag. */
export const refName = z.string().refine(isSoundName, "is no name that git allows");

/** A whole commit of SHA-1 or SHA-256. */
export const commit = z.string().regex(/^([0-9a-f]{40}|[0-9a-f]{64})$/, "is no commit");

/** Hosts say that something is not there, before or after a push, by zeros. */
export function isZero(hash: string): boolean {
  return /^0+$/.test(hash);
}

/** An address that agents may clone: https or ssh, also in the form of scp. */
export function isCloneAddress(address: string): boolean {
  if (address.length > maxAddressLength || !address.isWellFormed() || /[\p{Cc}\s]/u.test(address))
    return false;
  return (
    /^(https?|ssh):\/\/[^-]/.test(address) || /^[A-Za-z0-9_.][\w.-]*@[A-Za-z0-9][\w.-]*:[^-]/.test(address)
  );
}

/** Reads the names that an object in a payload has for its repository: paths at its host, or addresses. */
export function namesIn(object: string, members: readonly string[]): ReadRepository {
  return (body) => {
    const names = isMap(body) ? body[object] : undefined;
    return isMap(names) ? members.map((member) => names[member]).filter(isRepositoryName) : [];
  };
}

function isRepositoryName(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= maxAddressLength;
}

function isPage(address: string): boolean {
  return (
    address.length <= maxAddressLength && address.isWellFormed() && /^https?:\/\/[^\s\p{Cc}]+$/u.test(address)
  );
}

/** A page to link to. Others count as absent. */
export const page = z
  .string()
  .nullish()
  .transform((given) => (given && isPage(given) ? given : null));

const maxMessageLength = 10_000;
const maxTitleLength = 1000;
const maxPersonLength = 255;

/** Text of people: longer ones are cut, NUL is left out. Blank counts as absent. */
export const message = z
  .string()
  .nullish()
  .transform((given) => toStorable((given ?? "").slice(0, maxMessageLength)).trim() || null);

/** A line of such text, without control characters. */
function line(maxLength: number) {
  return z
    .string()
    .nullish()
    .transform((given) => cleanLine(given ?? "", maxLength) || null);
}

function cleanLine(text: string, maxLength: number): string {
  return stripControls(text.slice(0, maxLength)).toWellFormed().trim();
}

export const title = line(maxTitleLength);
const givenText = z.string().nullish();

/** Somebody of whom hosts say some of these. */
export const person = z
  .object({ name: givenText, email: givenText, username: givenText })
  .nullish()
  .transform((given) => toPerson(given ?? {}));

type Given<Value> = { [Member in keyof Value]?: Value[Member] | null | undefined };

/** Cuts what is long. Null if nothing is known. */
export function toPerson(given: Given<Person>): Person | null {
  const known: Person = {};
  for (const member of personMembers) {
    const text = cleanLine(given[member] ?? "", maxPersonLength);
    if (text !== "") known[member] = text;
  }
  return Object.keys(known).length > 0 ? known : null;
}

const personMembers = ["name", "email", "username"] as const satisfies (keyof Person)[];

/** Names of owners at hosts, of which forks' branches get a prefix: others are left out. */
export function isOwnerName(name: string): boolean {
  return /^[~\w][\w./-]{0,99}$/.test(name) && !name.includes("..");
}

/** The number of a pull request. Columns of numbers have no larger ones. */
export const requestNumber = z.number().int().positive().max(2_147_483_647);

const maxLabels = 100;
const maxLabelLength = 255;

/** The name of one label, of which hosts may say nothing. */
export const label = z
  .object({ name: z.string() })
  .nullish()
  .transform((given) => (given ? cleanLine(given.name, maxLabelLength) || null : null));

/** Labels by their names. */
export function labels(member: "name" | "title") {
  return z
    .array(z.object({ [member]: z.string() }))
    .nullish()
    .transform((given) =>
      (given ?? [])
        .slice(0, maxLabels)
        .map((label) => cleanLine(String(label[member]), maxLabelLength))
        .filter((name) => name !== ""),
    );
}

const refsHeads = "refs/heads/";
const refsTags = "refs/tags/";

/** Reads `refs/heads/main` or `refs/tags/v1`. Others are of no branch and no tag. */
export function readRef(ref: string): { type: "branch" | "tag"; name: string } | undefined {
  if (ref.startsWith(refsHeads)) return { type: "branch", name: ref.slice(refsHeads.length) };
  if (ref.startsWith(refsTags)) return { type: "tag", name: ref.slice(refsTags.length) };
  return undefined;
}

const kinds: Record<string, string> = {
  string: "text",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};
/** The meanings of members whose names do not tell them. */
const meanings: Record<string, string> = {
  ref: "the branch or tag",
  after: "the id of the commit",
  checkout_sha: "the id of the commit",
};

/** The first problem of a payload, with the member that has it. The parse has to report its input. */
export function problemOf({ issues: [issue] }: z.ZodError): string {
  const member = issue?.path.join(".").slice(0, 400) || "The payload";
  const kind = issue?.code === "invalid_type" && kinds[issue.expected];
  if (!issue || !kind) return `${member}: ${issue?.message ?? "is not understood"}`.slice(0, 500);
  const meaning = meanings[String(issue.path.at(-1))];
  const wanted = meaning ? `must be ${kind}, ${meaning}` : `must be ${kind}`;
  return issue.input === undefined ? `${member} is missing: it ${wanted}` : `${member} ${wanted}`;
}
