import { listJobsOfStep, type StepPlace } from "../../builds/reading/step-store.ts";
import type { Tx } from "../../db/database.ts";
import type { JobOptions } from "../../db/schema/builds.ts";
import { givenNotices, maxNotifyBytes, reasonsOfOthers } from "../../pipelines/notify/given.ts";
import { stepNoticeChecker } from "../../pipelines/step/conditions.ts";
import { exactSize, Refusal, unprocessable } from "../../refusal.ts";
import type { Notice } from "../../vocabulary.ts";
import { setNotices } from "../upload-store.ts";
import { setOwnOptions } from "./step-store.ts";

interface Given {
  attribute: string;
  value: string;
  appends: boolean;
}

/** Sets the notices of a step, or adds to them. @throws Refusal 422 */
export async function appendNotify(tx: Tx, place: StepPlace, { value, appends }: Given): Promise<void> {
  const given = readNotices(value);
  await setNotices(tx, place.buildId, { tellsOfJobs: true });
  await change(tx, place, ({ notify = [] }) => ({ notify: appends ? [...notify, ...given] : given }));
}

const stepNotices = givenNotices("notify", "step");

/** The job that sets them hears at once what is wrong: what nothing sends is refused, too. */
function readNotices(value: string): Notice[] {
  const { data, error } = stepNotices.safeParse(parse(value));
  if (error) throw unprocessable(...error.issues.map(({ message }) => ({ field: "value", message })));
  const { known, others } = data ?? { known: [], others: [] };
  const problemOf = stepNoticeChecker();
  const ofConditions = known.flatMap(({ if: condition }, index) => {
    const problem = condition === undefined ? undefined : problemOf(condition);
    return problem === undefined ? [] : [`notify[${index}].if: ${problem}`];
  });
  const messages = [...(others.length > 0 ? reasonsOfOthers(others, "step") : []), ...ofConditions];
  if (messages.length > 0) throw unprocessable(...messages.map((message) => ({ field: "value", message })));
  return known;
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
