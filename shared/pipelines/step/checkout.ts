import { z } from "zod";
import { isMap } from "../../collections.ts";
import { isStorable } from "../../validation.ts";
import { commitVerifications, type GitCommand, gitCommands, type StepCheckout } from "../../vocabulary.ts";
import { type Given, type Member, member } from "./declaration.ts";
import { nullable, oneOf, text, textList, truth, wholeNumber } from "./forms.ts";

// The checkout of a step's jobs. Agents get it as variables; the SSH key is read when one accepts a job.

const maxDepth = 2_147_483_647;
const maxFlagsLength = 4096;
const maxPathsLength = 16_384;
/** A key that a secret can have. None begins with `buildkite` or `bk`. */
const secretKey = /^(?!buildkite|bk)[a-z][a-z0-9_]{0,254}$/i;

/** The checkout that a caller gave, and the members in it that nothing reads. */
export interface GivenCheckout {
  known: StepCheckout;
  others: Given;
}

/** @param name begins the messages */
export function givenCheckout(name: string): z.ZodType<GivenCheckout | undefined> {
  const flags = gitCommands.map((each) => [each, nullable(text(`${name}.flags.${each}`, maxFlagsLength))]);
  const object = z.looseObject(
    {
      skip: truth(`${name}.skip`).meta({ description: "Nothing is checked out" }),
      submodules: truth(`${name}.submodules`),
      lfs: truth(`${name}.lfs`),
      depth: wholeNumber(`${name}.depth`, 1, maxDepth).meta({
        description: "Commits of the history",
      }),
      flags: nullable(
        z.looseObject(Object.fromEntries(flags), { error: `${name}.flags must be an object` }),
      ).meta({ description: "Options of commands of git" }),
      sparse: nullable(
        z.looseObject(
          { paths: paths(`${name}.sparse.paths`) },
          { error: `${name}.sparse must be an object` },
        ),
      ).meta({ description: "Only these folders are checked out" }),
      commit_verification: nullable(commitVerification(`${name}.commit_verification`)),
      ssh_secret: nullable(
        z
          .string({ error: `${name}.ssh_secret must be text` })
          .regex(secretKey, `${name}.ssh_secret must be the key of a secret`),
      ).meta({ description: "The key of a secret of the cluster, which holds the SSH key" }),
    },
    { error: `${name} must be an object` },
  );
  return nullable(object.transform((given) => divide(given, readMembers) as unknown as GivenCheckout));
}

function paths(name: string) {
  const error = `${name} must be text or a list of text`;
  return nullable(
    oneOf({ text: z.string(), list: textList(error) }, error)
      .transform((given) => [given].flat().filter((each) => each.trim() !== ""))
      .refine((given) => given.join().length <= maxPathsLength, {
        error: `${name} is too long (maximum is ${maxPathsLength.toLocaleString("en")} characters)`,
      })
      .refine((given) => given.every(isStorable), `${name} must be text without NUL`),
  );
}

/** In YAML 1.1, which some programs still write, `off` is false. */
function commitVerification(name: string) {
  const values = z.enum(commitVerifications, { error: `${name} must be strict, warn or off` });
  return z.preprocess((given) => (given === false ? "off" : given), values);
}

interface Members {
  [name: string]: Members | true;
}

const readMembers: Members = {
  skip: true,
  submodules: true,
  lfs: true,
  depth: true,
  flags: Object.fromEntries(gitCommands.map((each) => [each, true as const])),
  sparse: { paths: true },
  commit_verification: true,
  ssh_secret: true,
};

/** Separates the members that the program reads from all others. Null and empty members of the others count as absent. */
function divide(given: Given, members: Members): { known: Given; others: Given } {
  const known: [string, unknown][] = [];
  const others: [string, unknown][] = [];
  for (const [name, value] of Object.entries(given)) {
    const read = Object.hasOwn(members, name) ? members[name] : undefined;
    if (value === undefined || (read === undefined && (value === null || value === ""))) continue;
    if (read === undefined) others.push([name, value]);
    else if (read === true) known.push([name, value]);
    else {
      const inner = divide(value as Given, read);
      if (Object.keys(inner.known).length > 0) known.push([name, inner.known]);
      if (Object.keys(inner.others).length > 0) others.push([name, inner.others]);
    }
  }
  return { known: Object.fromEntries(known), others: Object.fromEntries(others) };
}

/** All members of both, and of the objects in them. Those of the second win. */
export function mergeCheckouts<Checkout extends object>(one: Checkout, other: Checkout): Checkout {
  const merged: Given = Object.fromEntries(Object.entries(one));
  for (const [name, value] of Object.entries(other)) {
    const own = merged[name];
    merged[name] = isMap(own) && isMap(value) ? mergeCheckouts(own, value) : value;
  }
  return merged as Checkout;
}

/** The names of members of a checkout that nothing reads: `checkout.flags.push`. */
export function namesOfOthers(others: unknown): string[] {
  if (!isMap(others)) return ["checkout"];
  return Object.entries(others).flatMap(([name, value]) =>
    isMap(readMembers[name]) && isMap(value)
      ? Object.keys(value).map((inner) => `checkout.${name}.${inner}`)
      : [`checkout.${name}`],
  );
}

export const checkout: Member<StepCheckout> = member({
  given: {
    checkout: givenCheckout("Step checkout").meta({ description: "What agents check out, and how" }),
  },
  parse: ({ checkout }) => (checkout && Object.keys(checkout.known).length > 0 ? checkout.known : undefined),
  stored: z.object({
    skip: z.boolean().optional(),
    submodules: z.boolean().optional(),
    lfs: z.boolean().optional(),
    depth: z.int().optional(),
    flags: z.partialRecord(z.enum(gitCommands), z.string()).optional(),
    sparse: z.object({ paths: z.array(z.string()).optional() }).optional(),
    commit_verification: z.enum(commitVerifications).optional(),
    ssh_secret: z.string().optional(),
  }) as z.ZodType<StepCheckout>,
  variables: (checkout) => winningVariables(checkout ?? {}),
  words: (checkout) =>
    checkout.skip === true ? "without checkout" : `checked out with ${leavesOf(checkout).join(", ")}`,
});

/** Variables that win over others of the same name. An absent member leaves those as they are. */
function winningVariables({ skip, submodules, lfs }: StepCheckout): Record<string, string> {
  return {
    ...(skip !== undefined && { SKIP_CHECKOUT: String(skip) }),
    ...(submodules !== undefined && { GIT_SUBMODULES: String(submodules) }),
    ...(lfs !== undefined && { GIT_LFS_ENABLED: String(lfs) }),
  };
}

/** Those over which the variables of the step win. Without their prefix. */
export function defaultVariables(checkout: StepCheckout): Record<string, string> {
  const { flags = {}, sparse, commit_verification } = checkout;
  const ofFlags = Object.entries(flags).map(([command, value]) => [flagsOf(command as GitCommand), value]);
  return {
    ...Object.fromEntries(ofFlags),
    ...(sparse?.paths && { GIT_SPARSE_CHECKOUT_PATHS: sparse.paths.join(",") }),
    ...(commit_verification !== undefined && { GIT_COMMIT_VERIFICATION: commit_verification }),
  };
}

/** The variable of the options of a command of git, without its prefix. */
export function flagsOf(command: GitCommand): string {
  return `GIT_${command.toUpperCase()}_FLAGS`;
}

function leavesOf(given: object, place = ""): string[] {
  return Object.entries(given).flatMap(([name, value]) =>
    isMap(value) ? leavesOf(value, `${place}${name}.`) : [`${place}${name} ${value}`],
  );
}
