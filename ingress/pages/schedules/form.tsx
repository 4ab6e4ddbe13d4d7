import { patterns } from "../../../shared/paths.ts";
import { validationFailed } from "../../../shared/refusal.ts";
import { newSchedule, scheduleChange, scheduleMembers } from "../../../shared/schedules/members.ts";
import { changeSchedule, createSchedule, variablesOf } from "../../../shared/schedules/schedules.ts";
import { pipelinePath } from "../address/pipeline.ts";
import { type Draft, draftOf, parseDraft } from "../resources/draft.ts";
import { MemberFields } from "../resources/fields.tsx";
import { formPage } from "../resources/form-page.tsx";
import { EnvironmentField, environmentFormOptions, readEnvironment } from "../ui/environment-field.tsx";
import { withNotice } from "../ui/notices.ts";
import type { FormProblems } from "../ui/problems.ts";
import { loadPipelineOfSchedules, loadSchedule, nameOf, schedulePath } from "./load.ts";

const common = {
  members: scheduleMembers,
  section: "pipelines" as const,
  isForAll: true,
  options: environmentFormOptions,
};

/** GET and POST …/schedules/new */
export const newSchedulePage = formPage({
  ...common,
  title: "New schedule",
  button: "Create schedule",
  load: loadPipelineOfSchedules,
  heading: ({ name }) => `New schedule of ${name}`,
  path: (request) => pipelinePath(request, patterns.newSchedulePage),
  back: (request) => pipelinePath(request, patterns.schedulesPage),
  draft: () => draftOf(scheduleMembers),
  fields: ({ draft, problems }) => fields("create", draft, problems),
  save: async (services, request, { loaded: pipeline, draft: { env, ...draft } }) => {
    const given = { ...parseDraft(newSchedule, scheduleMembers, draft), ...variablesIn(env) };
    const schedule = await createSchedule(services, request.actor, pipeline, given);
    return withNotice(schedulePath(request, schedule), "schedule_created");
  },
});

/** GET and POST …/schedules/:schedule/edit */
export const editSchedulePage = formPage({
  ...common,
  title: "Edit",
  button: "Save",
  load: async (services, request) => {
    const loaded = await loadSchedule(services, request);
    return { ...loaded, variables: variablesOf(services, loaded.schedule) };
  },
  heading: ({ schedule }) => `Edit ${nameOf(schedule)}`,
  path: (request, { schedule }) => schedulePath(request, schedule, patterns.editSchedulePage),
  back: (request, { schedule }) => schedulePath(request, schedule),
  draft: ({ schedule, variables }) => ({ ...draftOf(scheduleMembers, schedule), env: toLines(variables) }),
  fields: ({ draft, problems, loaded: { variables } }) =>
    fields("change", draft, problems, areLines(variables) ? undefined : Object.keys(variables)),
  save: async (services, request, { loaded: { schedule, variables }, draft: { env, ...draft } }) => {
    const change = {
      ...parseDraft(scheduleChange, scheduleMembers, draft),
      ...(areLines(variables) && variablesIn(env)),
    };
    const changed = await changeSchedule(services, request.actor, schedule, change);
    return withNotice(schedulePath(request, changed), "schedule_saved");
  },
});

/** @param kept names of variables that have line breaks, so that no field can have them */
function fields(
  when: "create" | "change",
  draft: Draft,
  problems: FormProblems | undefined,
  kept?: string[],
) {
  const env = kept ? (
    <p class="note">Its variables have line breaks. They stay as they are, and are changed over REST.</p>
  ) : (
    <EnvironmentField value={draft.env ?? ""} problems={problems ?? []} />
  );
  return (
    <MemberFields members={scheduleMembers} when={when} draft={draft} problems={problems} own={{ env }} />
  );
}

/** @throws Refusal 422 */
function variablesIn(lines: string | undefined): { env?: Record<string, string> } {
  if (lines === undefined) return {};
  const { environment, problems } = readEnvironment(lines);
  if (problems.length > 0) throw validationFailed(...problems.map((each) => ({ ...each, field: "env" })));
  return { env: environment };
}

function areLines(variables: Record<string, string>): boolean {
  return Object.values(variables).every((value) => !/[\r\n]/.test(value));
}

function toLines(variables: Record<string, string>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}
