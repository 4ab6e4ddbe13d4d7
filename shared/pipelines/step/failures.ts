import { z } from "zod";
import { listOf } from "../../collections.ts";
import { type AutomaticRetry, type StepOptions, signalName, signalReasons } from "../../vocabulary.ts";
import { member } from "./declaration.ts";
import { nullable, oneOf, optionalText, truth, truthOf, unlessEmpty, wholeNumber } from "./forms.ts";

// The members of a step that say what its failures mean.

const maxRetries = 10;
const maxRules = 100;
const maxStatuses = 500;
const defaultRetries = 2;

const statusError = "Step exit statuses must be whole numbers";
const exitStatus = z.int({ error: statusError });
/** Agents replace variables in a pipeline by text. */
const exitStatusText = z
  .string()
  .regex(/^(\*|-?\d{1,10})$/, { error: statusError })
  .transform((given): "*" | number => (given === "*" ? given : Number(given)));
const exitStatusOrAny = oneOf({ number: exitStatus, text: exitStatusText }, statusError);

const softFailError = "Step soft_fail must be true, false or a list of exit statuses";
const softFailRule = z.object({ exit_status: exitStatusOrAny });
const booleanText = (error: string) =>
  z.string().transform((given, context) => {
    const is = truthOf(given);
    if (is === undefined) context.addIssue(error);
    return is ?? z.NEVER;
  });

const givenSoftFail = unlessEmpty(
  oneOf(
    {
      boolean: z.boolean(),
      number: exitStatus,
      text: z.union([booleanText(softFailError), exitStatusText], { error: softFailError }),
      object: softFailRule,
      list: listOf(oneOf({ number: exitStatus, text: exitStatusText, object: softFailRule }, softFailError), {
        error: softFailError,
        max: maxStatuses,
        tooMany: `Step soft_fail can have ${maxStatuses} exit statuses at most`,
      }),
    },
    softFailError,
  ),
).meta({
  description: "True: the build passes even if the step fails. Exit statuses: it does for these",
});

const signalError = "Step retry signal must be a name such as SIGKILL, none or *";
const signal = z
  .string({ error: signalError })
  .regex(/^(\*|[a-z\d+-]{1,20})$/i, { error: signalError })
  .transform(signalName);
const reason = z.enum(["*", ...signalReasons], {
  error: `Step retry signal_reason must be * or one of ${signalReasons.join(", ")}`,
});

const filledList = <T>(item: z.ZodType<T>, name: string) => {
  const error = `Step retry ${name} is an empty list`;
  const tooMany = `Step retry ${name} can have ${maxStatuses} values at most`;
  return listOf(item, { error, max: maxStatuses, tooMany }).refine((given) => given.length > 0, error);
};

const rule = z.object(
  {
    exit_status: nullable(
      oneOf(
        { number: exitStatus, text: exitStatusText, list: filledList(exitStatusOrAny, "exit_status") },
        "Step retry exit_status must be a whole number, * or a list",
      ),
    ).meta({ description: "*: all but 0, as without it" }),
    signal: nullable(
      oneOf({ text: signal, list: filledList(signal, "signal") }, "Step retry signal must be text or a list"),
    ).meta({ description: "none: no signal. *: any, and none" }),
    signal_reason: nullable(
      oneOf(
        { text: reason, list: filledList(reason, "signal_reason") },
        "Step retry signal_reason must be text or a list",
      ),
    ).meta({ description: "none: no reason. *: any, and none" }),
    limit: wholeNumber("Step retry limit", 0, maxRetries).meta({
      description: `Of the retries by this rule. Default: ${defaultRetries}`,
    }),
  },
  { error: "Step retry rules must be objects" },
);

const automaticError = "Step retry.automatic must be true, false, an object or a list";
const automatic = unlessEmpty(
  oneOf(
    {
      boolean: z.boolean(),
      text: booleanText(automaticError),
      object: rule,
      list: listOf(rule, {
        error: automaticError,
        max: maxRules,
        tooMany: `Step retry.automatic can have ${maxRules} rules at most`,
      }),
    },
    automaticError,
  ),
);

const manualError = "Step retry.manual must be true, false or an object";
const manual = unlessEmpty(
  oneOf(
    {
      boolean: z.boolean(),
      text: booleanText(manualError),
      object: z.object({
        allowed: truth("Step retry.manual.allowed"),
        permit_on_passed: truth("Step retry.manual.permit_on_passed"),
        reason: optionalText("Step retry.manual.reason", 255),
      }),
    },
    manualError,
  ),
);

const givenRetry = unlessEmpty(z.object({ automatic, manual }, { error: "Step retry must be an object" }));

/** Null and false count as absent. */
export const softFail = member({
  given: { soft_fail: givenSoftFail },
  parse: ({ soft_fail }) => toSoftFail(soft_fail),
  stored: z
    .union([z.boolean(), z.array(z.int())])
    .meta({ description: "True, or the exit statuses after which the build passes" }),
});

export const retry = member({
  given: { retry: givenRetry },
  parse: ({ retry }) => toRetry(retry),
  stored: z.object({
    automatic: z
      .array(
        z.object({
          exit_status: z.union([z.literal("*"), z.array(z.union([z.int(), z.literal("*")]))]).optional(),
          signal: z.union([z.literal("*"), z.array(z.string())]).optional(),
          signal_reason: z.union([z.literal("*"), z.array(z.enum(signalReasons))]).optional(),
          limit: z.int(),
        }),
      )
      .optional(),
    manual: z
      .object({ allowed: z.boolean(), permit_on_passed: z.boolean(), reason: z.string().optional() })
      .optional(),
  }),
});

function toSoftFail(given: z.output<typeof givenSoftFail>): StepOptions["soft_fail"] {
  if (given === undefined || typeof given === "boolean") return given || undefined;
  const statuses = (Array.isArray(given) ? given : [given]).map((each) =>
    typeof each === "object" ? each.exit_status : each,
  );
  const some = anyOrSome(statuses);
  return some === "*" || (some.length > 0 ? some : undefined);
}

function toRetry(given: z.output<typeof givenRetry>): StepOptions["retry"] {
  const rules = toRules(given?.automatic);
  const manual = toManual(given?.manual);
  if (rules.length === 0 && !manual) return undefined;
  return { ...(rules.length > 0 ? { automatic: rules } : {}), ...(manual ? { manual } : {}) };
}

function toRules(given: z.output<typeof automatic>): AutomaticRetry[] {
  if (!given) return [];
  const rules: Partial<z.output<typeof rule>>[] =
    given === true ? [{}] : Array.isArray(given) ? given : [given];
  return rules.map(({ exit_status, signal, signal_reason, limit = defaultRetries }) => ({
    ...(exit_status === undefined ? {} : { exit_status: anyOrSome([exit_status].flat()) }),
    ...(signal === undefined ? {} : { signal: anyOrSome([signal].flat()) }),
    ...(signal_reason === undefined ? {} : { signal_reason: anyOrSome([signal_reason].flat()) }),
    limit,
  }));
}

function anyOrSome<Value>(values: ("*" | Value)[]): "*" | Value[] {
  return values.includes("*") ? "*" : values.filter((value): value is Value => value !== "*");
}

/** Undefined for the default: allowed, but not after it passed. */
function toManual(given: z.output<typeof manual>): NonNullable<StepOptions["retry"]>["manual"] {
  if (given === undefined || given === true) return undefined;
  const {
    allowed = true,
    permit_on_passed = false,
    reason,
  }: Partial<Exclude<typeof given, boolean>> = given === false ? { allowed: false } : given;
  return { allowed, permit_on_passed, ...(reason === undefined ? {} : { reason }) };
}
