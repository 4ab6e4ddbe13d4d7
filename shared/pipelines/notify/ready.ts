import type { Db, Tx } from "../../db/database.ts";
import type { StepWarning } from "../../db/schema/builds.ts";
import { isGroupStep, type Notice, type Step } from "../../vocabulary.ts";
import { findShapeProblem } from "./kinds.ts";
import { haveNotices, noticesOf, noticesOfAll } from "./notices.ts";
import { type NoticeReader, readWhyNot, type WhyNot } from "./unsendable.ts";

// Notices as they enter a build: their variables are replaced, and their conditions are as they will be evaluated.

interface Document {
  steps: Step[];
  notify?: Notice[] | undefined;
}

interface Entering {
  build: { organizationId: string; pipelineId: string };
  pipeline: Document;
  /** Makes the text of a condition that is evaluated. Default: as it is. */
  readCondition?: (text: string) => string;
}

interface Ready {
  steps: Step[];
  notify: Notice[];
  warnings: StepWarning[];
}

/**
 * Leaves out notices whose variables made them wrong.
 * @returns warnings: of those, and of others that are not sent at present
 */
export async function readyNotices(
  db: Db | Tx,
  reader: NoticeReader,
  { build, pipeline: { steps, notify = [] }, readCondition = (text) => text }: Entering,
): Promise<Ready> {
  if (notify.length === 0 && !haveNotices(steps)) return { steps, notify, warnings: [] };
  const whyNot = await readWhyNot(db, reader, build, [...notify, ...noticesOfAll(steps)]);
  const warnings: StepWarning[] = [];
  const ready = (notices: Notice[], step: string | null) =>
    readyAt(notices, { step, whyNot, warnings, readCondition });
  return {
    notify: ready(notify, null),
    steps: steps.map((step, index) => readyStep(step, `steps[${index}]`, ready)),
    warnings,
  };
}

function readyStep<Any extends Step>(
  step: Any,
  place: string,
  ready: (notices: Notice[], step: string) => Notice[],
): Any {
  const own = noticesOf(step);
  const notices = own.length > 0 ? ready(own, step.label ?? step.key ?? place) : [];
  return {
    ...step,
    ...(own.length > 0 && { notify: notices.length > 0 ? notices : undefined }),
    ...(isGroupStep(step) && {
      steps: step.steps.map((each, index) => readyStep(each, `${place}.steps[${index}]`, ready)),
    }),
  };
}

function readyAt(
  notices: Notice[],
  {
    step,
    whyNot,
    warnings,
    readCondition,
  }: {
    step: string | null;
    whyNot: WhyNot;
    warnings: StepWarning[];
    readCondition: (text: string) => string;
  },
): Notice[] {
  return notices.flatMap((notice): Notice[] => {
    const wrong = findShapeProblem(notice);
    const reason = wrong ?? whyNot(notice);
    if (reason !== undefined) warnings.push({ step, member: "notify", reason });
    if (wrong !== undefined) return [];
    return [notice.if === undefined ? notice : { ...notice, if: readCondition(notice.if) }];
  });
}
