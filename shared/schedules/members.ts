import { z } from "zod";
import { type Given, inputOf } from "../members/bodies.ts";
import type { Members } from "../members/member.ts";
import { environmentSchema } from "../pipelines/environment.ts";
import { blankToNull, requiredText, text } from "../validation.ts";
import { readCronline } from "./cronline.ts";
import type { Schedule } from "./store.ts";

const cronline = requiredText("Cronline", 200).pipe(
  z.string().superRefine((given, context) => {
    const read = readCronline(given);
    if ("problem" in read) context.addIssue(read.problem);
  }),
);
const isEnabled = z.boolean({ error: "Enabled must be true or false" });
const orNull = (name: string, maxLength: number) => text(name, maxLength).nullable().transform(blankToNull);
const commit = text("Commit", 1000)
  .nullable()
  .transform((given) => blankToNull(given) ?? "HEAD");
const environment = environmentSchema("Env").nullable();

type Kept =
  | ("id" | "organizationId" | "pipelineId" | "environmentSealed" | "nextBuildAt")
  | ("failedAt" | "failedMessage" | "createdAt" | "createdById");

/** A schedule, with its variables as answers show them. */
export type ShownSchedule = Schedule & { env: Record<string, string>; defaultBranch: string };

/** The members of a schedule. */
export const scheduleMembers = {
  label: {
    rule: null,
    create: orNull("Label", 255).optional(),
    change: orNull("Label", 255).optional(),
    shown: z.string().nullable(),
    audited: "values",
    field: { label: "Label", placeholder: "Nightly" },
  },
  cronline: {
    rule: "such as `0 9 * * mon-fri Europe/Berlin`; times at least 10 minutes apart",
    create: cronline,
    change: cronline.optional(),
    shown: z.string(),
    audited: "values",
    field: {
      label: "Cronline",
      hint: "Minute, hour, day of the month, month, day of the week, and perhaps a time zone. UTC without one.",
      placeholder: "0 8 * * 1-5 Europe/Berlin",
      kind: "name",
    },
  },
  message: {
    rule: null,
    create: orNull("Message", 10_000).optional(),
    change: orNull("Message", 10_000).optional(),
    shown: z.string().nullable(),
    audited: "values",
    field: { label: "Message", hint: "Of its builds." },
  },
  commit: {
    rule: "of its builds; null: `HEAD`",
    create: commit.optional().transform((given) => given ?? "HEAD"),
    change: commit.optional(),
    shown: z.string(),
    audited: "values",
    field: { label: "Commit", placeholder: "HEAD" },
  },
  branch: {
    rule: "of its builds; null: the pipeline's default branch",
    create: orNull("Branch", 1000).optional(),
    change: orNull("Branch", 1000).optional(),
    shown: z.string(),
    show: (schedule) => schedule.branch ?? (schedule as ShownSchedule).defaultBranch,
    audited: "values",
    field: { label: "Branch", hint: "Empty: the pipeline's default branch." },
  },
  env: {
    rule: "variables of its builds; a change replaces all",
    create: environment.optional(),
    change: environment.optional(),
    shown: z.record(z.string(), z.string()),
    show: (schedule: ShownSchedule) => schedule.env,
    audited: "name",
    field: { label: "Environment variables", name: "environment", kind: "code" },
  },
  enabled: {
    rule: "default true",
    create: isEnabled.nullish().transform((given) => given ?? true),
    change: isEnabled.optional(),
    shown: z.boolean(),
    audited: "values",
  },
} satisfies Members<Schedule, Kept, "env">;

export type NewSchedule = Given<typeof scheduleMembers, "create">;
export type ScheduleChange = Given<typeof scheduleMembers, "change">;
export const newSchedule = inputOf(scheduleMembers, "create");
export const scheduleChange = inputOf(scheduleMembers, "change");
