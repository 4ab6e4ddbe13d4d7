import {
  defaultSettings,
  type PipelineSettings,
  settingsMembers,
} from "../../../shared/pipelines/settings.ts";
import { maxLengthOf } from "../../../shared/validation.ts";
import { Check, Field } from "../ui/form.tsx";
import type { FormProblems } from "../ui/problems.ts";

// The part of a pipeline's form about branches and time-outs. Its fields are named as the members of REST.

const flags = ["skip_queued_branch_builds", "cancel_running_branch_builds"] as const;
const texts = [
  "skip_queued_branch_builds_filter",
  "cancel_running_branch_builds_filter",
  "default_timeout_in_minutes",
  "maximum_timeout_in_minutes",
] as const;
const numbers: readonly string[] = ["default_timeout_in_minutes", "maximum_timeout_in_minutes"];

export type SettingsDraft = Record<(typeof flags)[number], boolean> & Record<(typeof texts)[number], string>;

export const settingFields: readonly string[] = [...flags, ...texts];

export function draftOfSettings(settings: PipelineSettings = defaultSettings): SettingsDraft {
  return {
    skip_queued_branch_builds: settings.skipQueuedBranchBuilds,
    skip_queued_branch_builds_filter: settings.skipQueuedBranchBuildsFilter ?? "",
    cancel_running_branch_builds: settings.cancelRunningBranchBuilds,
    cancel_running_branch_builds_filter: settings.cancelRunningBranchBuildsFilter ?? "",
    default_timeout_in_minutes: String(settings.defaultTimeoutInMinutes ?? ""),
    maximum_timeout_in_minutes: String(settings.maximumTimeoutInMinutes ?? ""),
  };
}

export function readSettingsDraft(form: URLSearchParams): SettingsDraft {
  return {
    ...Object.fromEntries(flags.map((name) => [name, form.has(name)])),
    ...Object.fromEntries(texts.map((name) => [name, (form.get(name) ?? "").trim()])),
  } as SettingsDraft;
}

/** The members of REST. A text that is no number stays one, and is refused. */
export function toSettings(draft: SettingsDraft) {
  const given = texts.map((name) => [name, numbers.includes(name) ? toNumber(draft[name]) : draft[name]]);
  return { ...draft, ...Object.fromEntries(given) };
}

function toNumber(text: string): number | string | null {
  if (text === "") return null;
  return /^\d+$/.test(text) ? Number(text) : text;
}

export function SettingsFields({
  draft,
  problems,
}: {
  draft: SettingsDraft;
  problems: FormProblems | undefined;
}) {
  const field = (name: (typeof texts)[number]) => ({ name, value: draft[name], problems });
  const minutes = (name: (typeof texts)[number]) => ({ ...field(name), type: "number" as const, min: 1 });
  const patterns = { maxLength: maxLengthOf(settingsMembers.skip_queued_branch_builds_filter.in) };
  return (
    <>
      <fieldset>
        <legend>A new build of a branch</legend>
        <Check
          label="Skips older builds of the branch that have not started"
          name="skip_queued_branch_builds"
          checked={draft.skip_queued_branch_builds}
        />
        <Field
          {...patterns}
          label="Skips only on these branches"
          hint="Patterns such as main release/* or !main, parted by blanks. Empty: on all."
          {...field("skip_queued_branch_builds_filter")}
        />
        <Check
          label="Cancels older builds of the branch that run"
          name="cancel_running_branch_builds"
          checked={draft.cancel_running_branch_builds}
        />
        <Field
          {...patterns}
          label="Cancels only on these branches"
          hint="The same patterns. Empty: on all."
          {...field("cancel_running_branch_builds_filter")}
        />
      </fieldset>
      <Field
        label="Time-out in minutes"
        hint="For steps without a time-out of their own. Empty: no limit."
        {...minutes("default_timeout_in_minutes")}
      />
      <Field
        label="Longest time-out in minutes"
        hint="No job runs longer, whatever its step says. Empty: no limit."
        {...minutes("maximum_timeout_in_minutes")}
      />
    </>
  );
}

/** For the page of a pipeline. */
export function settingsInWords(settings: PipelineSettings): { builds: string[]; timeouts: string[] } {
  const on = (filter: string | null) => (filter === null ? "" : `, on the branches ${filter}`);
  const { defaultTimeoutInMinutes, maximumTimeoutInMinutes } = settings;
  return {
    builds: [
      ...(settings.skipQueuedBranchBuilds
        ? [
            `skip older ones of their branch that have not started${on(settings.skipQueuedBranchBuildsFilter)}`,
          ]
        : []),
      ...(settings.cancelRunningBranchBuilds
        ? [`cancel older ones of their branch that run${on(settings.cancelRunningBranchBuildsFilter)}`]
        : []),
    ],
    timeouts: [
      ...(defaultTimeoutInMinutes === null
        ? []
        : [`after ${defaultTimeoutInMinutes} minutes, unless their step says another time`]),
      ...(maximumTimeoutInMinutes === null ? [] : [`after ${maximumTimeoutInMinutes} minutes at the latest`]),
    ],
  };
}
