import { isDeepStrictEqual } from "node:util";
import { isMap } from "../../../shared/collections.ts";
import { readGivenSteps, readYamlTexts } from "../../../shared/pipelines/configuration/given.ts";
import type { YamlValue } from "../../../shared/pipelines/configuration/parse.ts";
import { writeConfiguration, writeYaml } from "../../../shared/pipelines/configuration/write.ts";
import { anyStep } from "../../../shared/pipelines/step/step.ts";
import { pipelineSteps, readPipelineSteps } from "../../../shared/pipelines/steps.ts";
import { type WrittenStep, writeSteps } from "../../../shared/pipelines/written-steps.ts";
import { openLoopPauses } from "../../../shared/process/loop-pauses.ts";
import { exactSize, type Problem, validationFailed } from "../../../shared/refusal.ts";
import { problemsOf, toProblems } from "../../../shared/validation.ts";
import { isCommandStep, type Step } from "../../../shared/vocabulary.ts";
import { findJsonProblem, maxJsonValues } from "../../http/json-body.ts";
import { readEnvironment } from "../ui/environment-field.tsx";

// The steps of a pipeline's form: those of its repository, rows of fields, YAML, or JSON. Members without a field are
// YAML or JSON in their row. Other kinds of steps are JSON as a whole.

export interface StepRow {
  kind: "command" | "wait";
  label: string;
  command: string;
  queue: string;
  /** Lines of NAME=value. */
  environment: string;
  /** Stands for `checkout: {skip: true}`. */
  skipsCheckout: boolean;
  /** Other members, in YAML or JSON. */
  more: string;
}

export type StepsDraft = StepsGiven & {
  /** The row that gets the focus. If there is no such row, the text has it, or else the heading. */
  focused?: number | undefined;
};

type StepsGiven =
  /** One step, which uploads a file of the repository (shared/pipelines/STEPS.md). */
  | { as: "repository" }
  | { as: "rows"; rows: StepRow[] }
  | { as: "json"; json: string }
  | { as: "yaml"; yaml: string }
  /** Too large for a page: they stay as they are. */
  | { as: "kept" };

const stepTexts = ["label", "command", "queue", "environment", "more"] as const;
const maxRows = 100;
/** Steps and the fields of 100 rows must be within the 300 KB of a page. */
const maxShownLength = 40_000;
/** Longer ones are JSON, which needs no thread to be read. */
const maxYamlBytes = 16 * 1024;
/** Of all steps of a page. To write as many as YAML takes about 20 ms, and JSON a hundredth of that. */
const maxYamlValues = 2500;
/** YAML that is read as other values: line breaks at the end, a key that merges, and marks of byte order. */
const changesWhenRead = /[|>]\d?\+$|^[ -]*<<:|\ufeff/m;

export const newRow: StepRow = {
  kind: "command",
  label: "",
  command: "",
  queue: "",
  environment: "",
  skipsCheckout: false,
  more: "",
};

const uploadStep = { label: "Upload steps", command: "buildkite-agent pipeline upload" };

/** @param configuration the YAML that the steps were made of */
export function draftOfSteps(steps: Step[], configuration: string | null = null): StepsDraft {
  if (configuration !== null)
    return configuration.length > maxShownLength ? { as: "kept" } : { as: "yaml", yaml: configuration };
  if (isDeepStrictEqual(steps, [uploadStep])) return { as: "repository" };
  const isLarge = JSON.stringify(steps).length > maxShownLength;
  if (isLarge) return { as: "kept" };
  const fitRows = steps.length <= maxRows && steps.every(fitsRow);
  if (!fitRows) return { as: "json", json: JSON.stringify(writeSteps(steps), null, 2) };
  return { as: "rows", rows: writeRows(steps) };
}

function writeRows(steps: Step[]): StepRow[] {
  const isYaml = countValues(steps) <= maxYamlValues;
  return steps.map((step) => toRow(step, isYaml));
}

function fitsRow(step: Step): boolean {
  return isCommandStep(step) || step.type === "wait";
}

function toRow(step: Step, isYaml: boolean): StepRow {
  const [written = {}] = writeSteps([step]) as [WrittenStep];
  if (!isCommandStep(step)) {
    const { type: _, ...more } = written;
    return { ...newRow, kind: "wait", more: writeMore(more, isYaml) };
  }
  const { label = "", command, agents = {}, env = {} } = step;
  const { label: _, command: __, agents: ___, env: ____, checkout: _____, ...others } = written;
  const { skipsCheckout, otherCheckout } = splitCheckout(written.checkout);
  const { queue = "", ...tags } = agents;
  const lines = Object.entries(env);
  // A field of lines cannot hold a line break.
  const fits = lines.every(([, value]) => !/[\r\n]/.test(value));
  return {
    kind: "command",
    label,
    command,
    queue,
    environment: fits ? lines.map(([name, value]) => `${name}=${value}`).join("\n") : "",
    skipsCheckout,
    more: writeMore(
      {
        ...others,
        ...(otherCheckout !== undefined && { checkout: otherCheckout }),
        ...(Object.keys(tags).length > 0 && { agents: tags }),
        ...(fits ? {} : { env }),
      },
      isYaml,
    ),
  };
}

/** Splits a checkout into the box of the form and its other members. */
function splitCheckout(checkout: unknown): { skipsCheckout: boolean; otherCheckout: unknown } {
  if (!isMap(checkout) || checkout.skip !== true) return { skipsCheckout: false, otherCheckout: checkout };
  const { skip: _, ...others } = checkout;
  return { skipsCheckout: true, otherCheckout: Object.keys(others).length > 0 ? others : undefined };
}

function writeMore(members: object, isYaml: boolean): string {
  if (Object.keys(members).length === 0) return "";
  const yaml = isYaml ? writeYaml(members).replace(/\n$/, "") : "";
  return yaml !== "" && Buffer.byteLength(yaml) <= maxYamlBytes && !changesWhenRead.test(yaml)
    ? yaml
    : JSON.stringify(members, null, 2);
}

/** Counts values, inner ones included. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((count: number, inner) => count + countValues(inner), 1);
}

/** Reads the steps of a form as they were typed. */
export function readStepsDraft(form: URLSearchParams): StepsDraft {
  const yaml = form.get("configuration");
  if (yaml !== null) return { as: "yaml", yaml };
  const json = form.get("steps");
  if (json !== null) return { as: "json", json };
  if (form.has("repository_steps")) return { as: "repository" };
  const count = Math.min(Number(form.get("rows")) || 0, maxRows);
  if (count === 0 && !form.has("rows")) return { as: "kept" };
  const rows = Array.from({ length: count }, (_, index): StepRow => {
    const texts = stepTexts.map((name) => [name, form.get(stepField(index, name)) ?? ""]);
    const kind = form.get(stepField(index, "kind")) === "wait" ? "wait" : "command";
    const skipsCheckout = form.has(stepField(index, "skipsCheckout"));
    return { ...newRow, ...Object.fromEntries(texts), kind, skipsCheckout };
  });
  return { as: "rows", rows };
}

/** The name of a field in the row of a step. */
export function stepField(index: number, name: keyof StepRow): string {
  return `step-${index}-${name}`;
}

/** The field of a REST member such as `steps.0.command`. */
export function fieldOfStep(member: string, draft: StepsDraft): string | undefined {
  if (draft.as === "repository") return member.startsWith("steps") ? "repository" : undefined;
  if (draft.as === "yaml") return /^(steps|configuration)/.test(member) ? "configuration" : undefined;
  if (draft.as !== "rows") return member.startsWith("steps") ? "steps" : undefined;
  const [, index, name] = /^steps\.(\d+)(?:\.(\w+))?/.exec(member) ?? [];
  const row = draft.rows[Number(index)];
  if (!row) return undefined;
  const fields: Record<string, keyof StepRow> = { label: "label", agents: "queue", env: "environment" };
  const usual = row.kind === "wait" ? "more" : "command";
  const field = name === undefined || name === "command" ? usual : (fields[name] ?? "more");
  return stepField(Number(index), field);
}

/** Reads a draft other than YAML into steps as REST takes them. Undefined: there are none. @throws Refusal 422, 503 */
export async function toSteps(
  organizationId: string,
  draft: StepsDraft,
): Promise<{ given?: unknown; problems: Problem[] }> {
  if (draft.as === "kept" || draft.as === "yaml") return { problems: [] };
  if (draft.as === "repository") return { given: [uploadStep], problems: [] };
  if (draft.as === "json") {
    const { value, problem } = await parseJson(draft.json);
    return problem
      ? { problems: [{ field: "steps", message: `Steps ${jsonProblems[problem]}` }] }
      : { given: value, problems: await problemsOfSteps(value) };
  }
  const read: ReturnType<typeof toStep>[] = [];
  const pause = openLoopPauses();
  for (const [index, row] of (await readRows(organizationId, draft.rows)).entries()) {
    read.push(toStep(row, index));
    await pause();
  }
  const given = read.map(({ step }) => step);
  const problems = read.flatMap((row) => row.problems);
  return { given, problems: problems.length > 0 ? problems : await problemsOfSteps(given) };
}

async function problemsOfSteps(given: unknown): Promise<Problem[]> {
  await readPipelineSteps(given);
  return problemsOf(pipelineSteps, given, "steps");
}

interface More {
  more: Record<string, unknown>;
  problem?: string;
}

type ReadRow = More & { row: StepRow };

/**
 * Reads the other settings of rows: JSON at once, and all the YAML together in a thread, as it takes longer.
 * @throws Refusal 422 if the YAML of all takes too long, 503
 */
async function readRows(organizationId: string, rows: StepRow[]): Promise<ReadRow[]> {
  const read: (ReadRow | { row: StepRow; yaml: string })[] = [];
  for (const row of rows) read.push({ row, ...(await readMore(row.more)) });
  const texts = read.flatMap((each) => ("yaml" in each ? [each.yaml] : []));
  const values = (await readYamlTexts(organizationId, texts, describeLate)).values();
  return read.map((each) => ("yaml" in each ? { row: each.row, ...ofYaml(values.next().value) } : each));
}

const describeLate = (seconds: number): Problem => ({
  field: "steps",
  message: `Other settings of the steps take longer than ${seconds} seconds to read`,
});

function toStep({ row, more, problem }: ReadRow, index: number): { step: object; problems: Problem[] } {
  const at = `steps.${index}`;
  const problems: Problem[] = problem ? [{ field: `${at}.more`, message: problem }] : [];
  const { environment, problems: ofLines } = readEnvironment(row.environment);
  problems.push(...ofLines.map(({ message }) => ({ field: `${at}.env`, message })));
  const step =
    row.kind === "wait"
      ? { ...more, type: "wait" }
      : toCommandStep(row, more, ofLines.length > 0 ? {} : environment);
  return { step, problems: [...problems, ...problemsOf(anyStep, step, at)] };
}

function toCommandStep(
  row: StepRow,
  more: Record<string, unknown>,
  environment: Record<string, string>,
): object {
  const { label, command, queue } = row;
  const { agents } = more;
  const checkout = more.checkout ?? {};
  return {
    ...more,
    ...(row.skipsCheckout && { checkout: isMap(checkout) ? { ...checkout, skip: true } : checkout }),
    ...(label.trim() && { label: label.trim() }),
    ...(command.trim() && { command }),
    ...(queue.trim() && { agents: [...(agents ? [agents].flat() : []), { queue: queue.trim() }] }),
    ...(row.environment.trim() && { env: environment }),
  };
}

/** Reads JSON. Returns other short text, which may be YAML. */
async function readMore(text: string): Promise<More | { yaml: string }> {
  if (text.trim() === "") return { more: {} };
  const json = await parseJson(text);
  if (!json.problem) return toMore(json.value);
  if (json.problem !== "invalid_json") return refuseMore(` ${jsonProblems[json.problem]}`);
  if (Buffer.byteLength(text) > maxYamlBytes)
    return refuseMore(
      ` ${jsonProblems.invalid_json}, and YAML of more than ${exactSize(maxYamlBytes)} is not read`,
    );
  return { yaml: text.replace(/^\ufeff/, "") };
}

function ofYaml(read: YamlValue | undefined): More {
  return read && "problem" in read ? refuseMore(`: ${read.problem}`) : toMore(read?.value);
}

function toMore(value: unknown): More {
  return isMap(value) ? { more: value } : refuseMore(" must be a map, as in timeout_in_minutes: 10");
}

function refuseMore(reason: string): More {
  return { more: {}, problem: `Other settings${reason}` };
}

/** Pasted text may begin with a byte order mark, which nobody sees: `trim` takes it for white space. */
async function parseJson(
  pasted: string,
): Promise<{ value?: unknown; problem?: keyof typeof jsonProblems | undefined }> {
  const json = pasted.trim();
  const problem = await findJsonProblem(Buffer.from(json.toWellFormed()));
  return problem ? { problem } : { value: JSON.parse(json) };
}

const jsonProblems = {
  invalid_json: "are not valid JSON",
  too_deep: "are nested too deeply",
  too_many_values: `have more than ${maxJsonValues.toLocaleString("en")} values`,
};

/**
 * The act of a button of the form: `add`, `add wait`, `remove 0`, `up 1`, `down 0`, or how the steps are to be given.
 * @returns undefined for the button that saves
 * @throws Refusal 422
 */
export async function editSteps(
  organizationId: string,
  draft: StepsDraft,
  pressed: string,
): Promise<StepsDraft | undefined> {
  if (pressed === draft.as) return draft;
  if (pressed === "repository") return { as: "repository" };
  if (pressed === "rows") return toRows(organizationId, draft);
  if (pressed === "yaml") return toYaml(organizationId, draft);
  if (pressed === "json") return toJson(organizationId, draft);
  return draft.as === "rows" ? editRows(draft.rows, pressed) : undefined;
}

function editRows(rows: StepRow[], pressed: string): StepsDraft | undefined {
  const [act = "", which = ""] = pressed.split(" ");
  if (act === "add") {
    const added: StepRow = { ...newRow, kind: which === "wait" ? "wait" : "command" };
    return { as: "rows", rows: [...rows, added].slice(0, maxRows), focused: rows.length };
  }
  const index = Number(which);
  const row = rows[index];
  if (!["remove", "up", "down"].includes(act) || !row) return undefined;
  const others = rows.toSpliced(index, 1);
  if (act === "remove") return { as: "rows", rows: others, focused: Math.min(index, others.length - 1) };
  const to = Math.min(Math.max(0, act === "up" ? index - 1 : index + 1), others.length);
  return { as: "rows", rows: others.toSpliced(to, 0, row), focused: to };
}

/** @throws Refusal 422 */
async function toRows(organizationId: string, draft: StepsDraft): Promise<StepsDraft> {
  if (isBlank(draft)) return { as: "rows", rows: [newRow] };
  const ofJson = draft.as === "yaml" ? await fromYaml(organizationId, draft.yaml) : draft;
  const { given, problems } = await toSteps(organizationId, ofJson);
  if (problems.length > 0) throw validationFailed(...problems);
  const { data: steps, error } = pipelineSteps.safeParse(given);
  if (error) throw validationFailed(...toProblems(error, "steps")); // the form has none
  if (steps.length > maxRows)
    throw validationFailed({
      field: "steps",
      message: `More than ${maxRows} steps can be edited as YAML and JSON only`,
    });
  if (!steps.every(fitsRow))
    throw validationFailed({
      field: "steps",
      message: "Steps other than commands and waits can be edited as YAML and JSON only",
    });
  return { as: "rows", rows: writeRows(steps) };
}

/** @throws Refusal 422 */
async function fromYaml(organizationId: string, configuration: string): Promise<StepsDraft> {
  const { steps = [], document } = await readGivenSteps(organizationId, { configuration });
  if (document?.env)
    throw validationFailed({
      field: "configuration",
      message: "Variables of the document (env) can be edited as YAML only",
    });
  return { as: "json", json: JSON.stringify(writeSteps(steps), null, 2) };
}

/** @throws Refusal 422 */
async function toYaml(organizationId: string, draft: StepsDraft): Promise<StepsDraft> {
  if (isBlank(draft)) return { as: "yaml", yaml: "" };
  const { given } = await toGiven(organizationId, draft);
  return { as: "yaml", yaml: writeConfiguration(given) };
}

/** Incomplete rows can be JSON; others cannot be written as it. @throws Refusal 422 */
async function toJson(organizationId: string, draft: StepsDraft): Promise<StepsDraft> {
  if (isBlank(draft)) return { as: "json", json: "" };
  if (draft.as === "yaml") return fromYaml(organizationId, draft.yaml);
  const { given } = await toGiven(organizationId, draft);
  return { as: "json", json: JSON.stringify(given, null, 2) };
}

/** Nothing was written yet: there is nothing to convert. */
function isBlank(draft: StepsDraft): boolean {
  if (draft.as === "yaml") return draft.yaml.trim() === "";
  if (draft.as === "json") return draft.json.trim() === "";
  return draft.as === "repository" || (draft.as === "rows" && isDeepStrictEqual(draft.rows, [newRow]));
}

async function toGiven(organizationId: string, draft: StepsDraft): Promise<{ given?: unknown }> {
  const { given, problems } = await toSteps(organizationId, draft);
  const ofText = problems.filter(({ field }) => given === undefined || /\.(more|env)$/.test(field));
  if (ofText.length > 0) throw validationFailed(...ofText);
  return { given };
}
