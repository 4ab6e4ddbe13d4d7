import { z } from "zod";
import { optionalText } from "../validation.ts";
import type { AutomaticRetry, StepOptions } from "../vocabulary.ts";
import { nullable, oneOf, wholeNumber } from "./step-members.ts";

// The members of a step that say what its failures mean.

const maxRetries = 10;
const defaultRetries = 2;

const exitStatus = z.int({ error: "Step exit statuses must be whole numbers" });
const anyStatus = z.literal("*", { error: "Step exit statuses must be whole numbers" });
const exitStatusOrAny = oneOf(
  { number: exitStatus, text: anyStatus },
  "Step exit statuses must be whole numbers",
);

/** Null and false count as absent. */
export const softFail = nullable(
  oneOf(
    {
      boolean: z.boolean(),
      list: z.array(
        oneOf(
          { number: exitStatus, text: anyStatus, object: z.object({ exit_status: exitStatusOrAny }) },
          "Step soft_fail must be true, false or a list of exit statuses",
        ),
      ),
    },
    "Step soft_fail must be true, false or a list of exit statuses",
  ),
).meta({
  description: "True: the build passes even if the step fails. A list: it does for these exit statuses",
});

const rule = z.object(
  {
    exit_status: nullable(
      oneOf(
        {
          number: exitStatus,
          text: anyStatus,
          list: z.array(exitStatusOrAny).min(1, "Step retry exit_status is an empty list"),
        },
        "Step retry exit_status must be a whole number, * or a list",
      ),
    ).meta({ description: "Default: *, which is every failure" }),
    limit: nullable(wholeNumber("Step retry limit", 0, maxRetries)).meta({
      description: `Default: ${defaultRetries}`,
    }),
  },
  { error: "Step retry rules must be objects" },
);

const automatic = nullable(
  oneOf(
    { boolean: z.boolean(), object: rule, list: z.array(rule) },
    "Step retry.automatic must be true, false, an object or a list",
  ),
);

const truth = (name: string) => nullable(z.boolean({ error: `${name} must be true or false` }));
const manual = nullable(
  oneOf(
    {
      boolean: z.boolean(),
      object: z.object({
        allowed: truth("Step retry.manual.allowed"),
        permit_on_passed: truth("Step retry.manual.permit_on_passed"),
        reason: optionalText("Step retry.manual.reason", 255),
      }),
    },
    "Step retry.manual must be true, false or an object",
  ),
);

export const retry = nullable(z.object({ automatic, manual }, { error: "Step retry must be an object" }));

export function toSoftFail(given: z.output<typeof softFail>): StepOptions["soft_fail"] {
  if (!Array.isArray(given)) return given || undefined;
  const statuses = given.map((each) => (typeof each === "object" ? each.exit_status : each));
  if (statuses.includes("*")) return true;
  return statuses.length > 0 ? statuses.filter((status) => typeof status === "number") : undefined;
}

export function toRetry(given: z.output<typeof retry>): StepOptions["retry"] {
  const rules = toRules(given?.automatic);
  const manual = toManual(given?.manual);
  if (rules.length === 0 && !manual) return undefined;
  return { ...(rules.length > 0 ? { automatic: rules } : {}), ...(manual ? { manual } : {}) };
}

function toRules(given: z.output<typeof automatic>): AutomaticRetry[] {
  if (!given) return [];
  const rules: Partial<z.output<typeof rule>>[] =
    given === true ? [{}] : Array.isArray(given) ? given : [given];
  return rules.map(({ exit_status = "*", limit = defaultRetries }) => {
    const statuses = Array.isArray(exit_status) ? exit_status : [exit_status];
    const numbers = statuses.filter((status) => typeof status === "number");
    return { exit_status: statuses.includes("*") ? "*" : numbers, limit };
  });
}

/** Undefined for the default: allowed, also after it passed. */
function toManual(given: z.output<typeof manual>): NonNullable<StepOptions["retry"]>["manual"] {
  if (given === undefined || given === true) return undefined;
  const {
    allowed = true,
    permit_on_passed = true,
    reason,
  }: Partial<Exclude<typeof given, boolean>> = given === false ? { allowed: false } : given;
  return { allowed, permit_on_passed, ...(reason === undefined ? {} : { reason }) };
}
