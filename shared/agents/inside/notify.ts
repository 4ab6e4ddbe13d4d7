import { listJobsOfStep, type StepPlace } from "../../builds/reading/step-store.ts";
import type { Tx } from "../../db/database.ts";
import type { JobOptions } from "../../db/schema/builds.ts";
import { exactSize, Refusal } from "../../refusal.ts";
import { isStorableDeep } from "../../validation.ts";
import { setOwnOptions } from "./step-store.ts";

/** Of the notices of a step. */
const maxNotifyBytes = 16 * 1024;

interface Given {
  attribute: string;
  value: string;
  appends: boolean;
}

/** Sets the notices of a step, or adds to them. @throws Refusal 422 */
export async function appendNotify(tx: Tx, place: StepPlace, { value, appends }: Given): Promise<void> {
  const given = listOf(value);
  await change(tx, place, ({ notify = [] }) => ({ notify: appends ? [...notify, ...given] : given }));
}

function listOf(value: string): unknown[] {
  const parsed = parse(value);
  if (!isStorableDeep(parsed))
    throw new Refusal(422, "notify must be text without NUL, nested at most 100 levels");
  if (Array.isArray(parsed)) return parsed;
  if (typeof parsed === "object" && parsed !== null) return [parsed];
  throw new Refusal(422, "notify must be a list");
}

function parse(value: string): unknown {
  if (Buffer.byteLength(value) > maxNotifyBytes)
    throw new Refusal(422, `notify is larger than ${exactSize(maxNotifyBytes)}`);
  try {
    return JSON.parse(value);
  } catch {
    throw new Refusal(422, "notify must be JSON");
  }
}

/** Sets what a check of a commit shows of a step, or adds to it. @throws Refusal 422 */
export async function setCheckOutput(
  tx: Tx,
  place: StepPlace,
  { attribute, value, appends }: Given,
): Promise<void> {
  const [, name] = /^notify\.github_check\.output\.([a-z_]{1,50})$/.exec(attribute) ?? [];
  if (!name) throw new Refusal(422, "attribute must be notify, or begin with notify.github_check.output.");
  await change(tx, place, ({ check_output = {} }) => ({
    check_output: { ...check_output, [name]: appends ? (check_output[name] ?? "") + value : value },
  }));
}

/** The first job of a step has them. */
async function change(
  tx: Tx,
  place: StepPlace,
  decide: (options: JobOptions) => Pick<JobOptions, "notify" | "check_output">,
): Promise<void> {
  const [first] = await listJobsOfStep(tx, place);
  if (!first) return;
  const options = first.options ?? {};
  const changed = { ...options, ...decide(options) };
  const { notify, check_output } = changed;
  if (Buffer.byteLength(JSON.stringify({ notify, check_output })) > maxNotifyBytes)
    throw new Refusal(422, `The notices of the step would be larger than ${exactSize(maxNotifyBytes)}`);
  await setOwnOptions(tx, first.id, changed);
}
