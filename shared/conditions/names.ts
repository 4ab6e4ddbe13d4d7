import { nearestName } from "../members/nearest.ts";
import { excerpt } from "../refusal.ts";

/** A value of a condition. Lists that a condition writes may contain lists. */
export type Value = string | number | boolean | null | readonly Value[];

/** The kinds of values that names have. */
export interface Kinds {
  text: string;
  number: number;
  boolean: boolean;
  list: readonly string[];
}

/** Every name of conditions. A value may also be null. A dotted name is one name: it has no value by its parts. */
const kinds = {
  "build.id": "text",
  "build.number": "number",
  "build.branch": "text",
  "build.commit": "text",
  "build.message": "text",
  "build.tag": "text",
  "build.source": "text",
  "build.state": "text",
  "build.fixed": "boolean",
  "build.source_event": "text",
  "build.source_action": "text",
  "build.author.id": "text",
  "build.author.name": "text",
  "build.author.email": "text",
  "build.author.teams": "list",
  "build.creator.id": "text",
  "build.creator.name": "text",
  "build.creator.email": "text",
  "build.creator.teams": "list",
  "build.merge_queue.base_branch": "text",
  "build.merge_queue.base_commit": "text",
  "build.pull_request.id": "text",
  "build.pull_request.base_branch": "text",
  "build.pull_request.draft": "boolean",
  "build.pull_request.label": "text",
  "build.pull_request.labels": "list",
  "build.pull_request.repository": "text",
  "build.pull_request.repository.fork": "boolean",
  "pipeline.id": "text",
  "pipeline.slug": "text",
  "pipeline.default_branch": "text",
  "pipeline.repository": "text",
  "pipeline.started_passing": "boolean",
  "pipeline.started_failing": "boolean",
  "organization.id": "text",
  "organization.slug": "text",
  "step.id": "text",
  "step.key": "text",
  "step.label": "text",
  "step.type": "text",
  "step.state": "text",
  "step.outcome": "text",
} as const satisfies Record<string, keyof Kinds>;

export type Name = keyof typeof kinds;

/** The values that a condition is evaluated with. An absent one is null. */
export interface Facts {
  readonly values: { readonly [N in Name]?: Kinds[(typeof kinds)[N]] | null };
  /** @returns null: the variable is not set */
  env(name: string): string | null;
}

/** The kind of a name's value, which may also be null. */
export function kindOfName(name: Name): keyof Kinds {
  return kinds[name];
}

export const allNames = Object.keys(kinds) as Name[];
const isOfStep = (name: Name) => name.startsWith("step.");
/** `build.fixed` is the old name of `pipeline.started_passing`. */
const isOfTurn = (name: Name) => name.startsWith("pipeline.started_") || name === "build.fixed";

/** For `if` of a step. */
export const namesInSteps: ReadonlySet<Name> = new Set(
  allNames.filter((name) => !isOfStep(name) && !isOfTurn(name)),
);
/** For `if` of a build's notifications. */
export const namesInBuildNotify: ReadonlySet<Name> = new Set(allNames.filter((name) => !isOfStep(name)));
/** For `if` of a step's notifications. */
export const namesInStepNotify: ReadonlySet<Name> = new Set(
  allNames.filter((name) => name !== "build.state" && !isOfTurn(name)),
);

export function isName(text: string): text is Name {
  return Object.hasOwn(kinds, text);
}

/** Says what to write in place of a function that conditions do not have. */
export function describeWrongFunction(name: string): string {
  const owner = name.slice(0, Math.max(0, name.lastIndexOf(".")));
  const isText = isName(owner) && kinds[owner] === "text";
  const advice = isText
    ? `compare it with a regular expression, as in ${owner} =~ /main/`
    : "the only one is build.env()";
  return `Unknown function ${excerpt(name)}(): ${advice}`;
}

/** Says what to write in place of a name that a condition cannot use. */
export function describeWrongName(text: string, names: ReadonlySet<Name>): string {
  if (isName(text)) return `${text} cannot be used here`;
  const known = [...names];
  const nearest = nearestName(text, known);
  if (nearest !== undefined) return `Unknown name ${text} (did you mean ${nearest}?)`;
  const parts = text.split(".");
  for (let length = parts.length; length > 0; length--) {
    const prefix = `${parts.slice(0, length).join(".")}.`;
    const inside = known.filter((name) => name.startsWith(prefix));
    if (inside.length === 0) continue;
    const members = new Set(inside.map((name) => name.slice(prefix.length).split(".")[0]));
    const owner = prefix.slice(0, -1);
    const problem = owner === text ? `${text} has no value by itself` : `Unknown name ${text}`;
    return `${problem}: ${owner} has ${[...members].join(", ")}`;
  }
  const meant = known.filter((name) => name.endsWith(`.${text}`));
  if (meant.length > 0) return `Unknown name ${text}: write ${meant.join(" or ")}`;
  const owners = [...new Set(known.map((name) => name.slice(0, name.indexOf("."))))].join(", ");
  if (/^webhook\b/.test(text))
    return `Unknown name ${text}: filters of triggers read the webhook; here names begin with ${owners}`;
  return `Unknown name ${text}: put texts in quotes; names begin with ${owners}`;
}
