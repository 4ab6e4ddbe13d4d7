import { z } from "zod";
import { maxBranchPatternsLength } from "../conditions/branches.ts";
import { text } from "../validation.ts";
import { type ProviderId, providerIds } from "./providers.ts";

// The settings of a pipeline's provider, each declared once: REST, pages and the decision read them here.

const all = [...providerIds];
const github: ProviderId[] = ["github", "github_enterprise"];
const gitlab: ProviderId[] = ["gitlab", "gitlab_ee"];
const requests: ProviderId[] = ["github", "github_enterprise", "gitea"];
const branchFilters: ProviderId[] = ["github", "github_enterprise", "gitea", "bitbucket"];

interface Declared {
  of: ProviderId[];
  default: boolean | string | null;
  /** A sentence for pages and OpenAPI that says what it does. */
  about: string;
  /** The reason why it cannot be switched on. */
  missing?: string;
}

const noSuchBuilds = (event: string) => `Builds of ${event} are not available`;

export const declaredSettings = {
  build_branches: { of: all, default: true, about: "Builds branches that are pushed." },
  build_tags: { of: all, default: false, about: "Builds tags that are pushed." },
  build_pull_requests: {
    of: all,
    default: true,
    about: "Builds pull requests that are opened or get commits.",
  },
  build_pull_request_forks: {
    of: all,
    default: false,
    about: "Builds pull requests of forks. Their builds never get secrets.",
  },
  prefix_pull_request_fork_branch_names: {
    of: all,
    default: true,
    about: "Names the branch of a fork owner:branch.",
  },
  build_pull_request_base_branch_changed: {
    of: all,
    default: false,
    about: "Builds pull requests whose base branch changes.",
  },
  build_pull_request_edited: { of: all, default: false, about: "Builds pull requests whose text changes." },
  build_pull_request_labels_changed: {
    of: [...requests, ...gitlab],
    default: false,
    about: "Builds pull requests whose labels change.",
  },
  build_pull_request_ready_for_review: {
    of: [...github, ...gitlab],
    default: false,
    about: "Builds drafts that become ready for review.",
  },
  build_pull_request_converted_to_draft: {
    of: [...github, ...gitlab],
    default: false,
    about: "Builds pull requests that become drafts.",
  },
  build_pull_request_reopened: {
    of: [...requests, ...gitlab],
    default: false,
    about: "Builds pull requests that are reopened.",
  },
  build_pull_request_review_requested: {
    of: [...requests, ...gitlab, "bitbucket_server"],
    default: false,
    about: "Builds pull requests for which a review is requested.",
  },
  build_pull_request_review_submitted: {
    of: github,
    default: false,
    about: "Builds pull requests that are reviewed.",
  },
  build_pull_request_review_dismissed: {
    of: github,
    default: false,
    about: "Builds pull requests of which a review is dismissed.",
  },
  build_pull_request_dequeued: {
    of: github,
    default: false,
    about: "Builds pull requests that leave the merge queue.",
  },
  build_merge_group_checks_requested: {
    of: github,
    default: false,
    about: "Builds groups of the merge queue.",
  },
  cancel_when_merge_group_destroyed: {
    of: github,
    default: false,
    about: "Cancels builds of a group that leaves the merge queue.",
  },
  use_merge_group_base_commit_for_git_diff_base: {
    of: github,
    default: false,
    about: "Agents compare a merge group with its base commit.",
  },
  ignore_default_branch_pull_requests: {
    of: all,
    default: false,
    about: "Leaves out pull requests whose branch is the default branch.",
  },
  pull_request_branch_filter_enabled: {
    of: branchFilters,
    default: false,
    about: "Builds pull requests of matching branches only.",
  },
  pull_request_branch_filter_configuration: {
    of: branchFilters,
    default: null,
    about: "The patterns of these branches, separated by spaces.",
  },
  skip_builds_for_existing_commits: {
    of: all,
    default: false,
    about: "Leaves out commits that the pipeline has built.",
  },
  skip_pull_request_builds_for_existing_commits: {
    of: all,
    default: true,
    about: "Leaves out pull requests whose branch has a build of this commit.",
  },
  skip_builds_for_closed_pull_requests: {
    of: all,
    default: true,
    about: "Leaves out pull requests that are closed or merged.",
  },
  cancel_deleted_branch_builds: {
    of: all,
    default: false,
    about: "Cancels unfinished builds of a branch that is deleted.",
  },
  filter_enabled: { of: all, default: false, about: "Builds what the filter condition is true for." },
  filter_condition: { of: all, default: null, about: "A condition as in a step's if." },
  publish_commit_status: { of: all, default: true, about: "Shows the state of builds at the host." },
  publish_commit_status_per_step: {
    of: all,
    default: false,
    about: "Shows the state of each job at the host.",
  },
  separate_pull_request_statuses: {
    of: all,
    default: false,
    about: "Gives builds of pull requests a status of their own.",
  },
  publish_blocked_as_pending: { of: all, default: false, about: "Shows a blocked build as pending." },
  use_step_key_as_commit_status: {
    of: all,
    default: false,
    about: "Names the status of a job by its step's key.",
  },
  build_pull_request_merge: {
    of: [...gitlab, ...github],
    default: false,
    about: "Builds the result of the merge.",
    missing: "Builds of merge results are not available",
  },
  build_pull_request_stacks: {
    of: github,
    default: false,
    about: "",
    missing: noSuchBuilds("stacks of pull requests"),
  },
  build_check_run_completed: { of: github, default: false, about: "", missing: noSuchBuilds("check runs") },
  build_release_published: { of: github, default: false, about: "", missing: noSuchBuilds("releases") },
  build_release_created: { of: github, default: false, about: "", missing: noSuchBuilds("releases") },
  build_release_released: { of: github, default: false, about: "", missing: noSuchBuilds("releases") },
  build_issue_comment_created: { of: github, default: false, about: "", missing: noSuchBuilds("comments") },
  build_pull_request_review_comment_created: {
    of: github,
    default: false,
    about: "",
    missing: noSuchBuilds("comments"),
  },
  build_deployment_status_created: {
    of: github,
    default: false,
    about: "",
    missing: noSuchBuilds("deployments"),
  },
} as const satisfies Record<string, Declared>;

/** The flags of texts that do nothing while their flag is off. */
export const flagOfText = {
  filter_condition: "filter_enabled",
  pull_request_branch_filter_configuration: "pull_request_branch_filter_enabled",
} as const;
export type TextWithFlag = keyof typeof flagOfText;

type Name = keyof typeof declaredSettings;
type Flag = { [K in Name]: (typeof declaredSettings)[K]["default"] extends boolean ? K : never }[Name];
type Text = Exclude<Name, Flag>;

/** All settings: those that are not stored have their defaults. */
export type ProviderSettings = Record<Flag, boolean> &
  Record<Text, string | null> & { trigger_mode: TriggerMode };
type TriggerMode = "code" | "none";

export type GivenSettings = Partial<ProviderSettings>;
/** The settings of a pipeline, as its row has them: without those at their default. */
type StoredSettings = Readonly<Record<string, unknown>> | null;

/** Read only: answers have it beside the settings. */
const answeredToo = ["repository"];
const maxConditionLength = 8192;

const flag = (name: string) => z.boolean({ error: `${titleOf(name)} must be true or false` });
const shape = {
  ...Object.fromEntries(
    Object.entries(declaredSettings).map(([name, declared]) => [
      name,
      typeof declared.default === "boolean"
        ? flag(name).nullish()
        : text(
            titleOf(name),
            name === "filter_condition" ? maxConditionLength : maxBranchPatternsLength,
          ).nullish(),
    ]),
  ),
  trigger_mode: z.enum(["code", "none"], { error: "Trigger mode must be code or none" }).nullish(),
};

/** Settings as callers send them. Null counts as absent for true or false, and empties a text. */
export const givenProviderSettings = z
  .looseObject(shape, { error: "Provider settings must be an object" })
  .transform((given) => given as GivenSettings & Record<string, unknown>);

/** Says what the provider of a pipeline cannot do with them. Settings of other providers may be off. */
export function settingsProblems(provider: ProviderId | null, given: Record<string, unknown>): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const isOn = value !== false && value !== null && value !== undefined && value !== "";
    if (name === "trigger_mode" || answeredToo.includes(name)) return [];
    if (!isSetting(name)) return [`Provider settings has no member named ${name.slice(0, 100)}`];
    const declared: Declared = declaredSettings[name];
    if (!isOn) return [];
    if (declared.missing) return [declared.missing];
    if (provider !== null && !declared.of.includes(provider))
      return [`${titleOf(name)} is not available for this provider`];
    return [];
  });
}

/** The settings to store of a request: the settings of any provider, without those at their default. */
export function storedSettings(given: GivenSettings): GivenSettings {
  const stored = Object.entries(given).filter(
    ([name, value]) =>
      value !== null &&
      value !== undefined &&
      (name === "trigger_mode"
        ? value !== "code"
        : isSetting(name) && value !== declaredSettings[name].default),
  );
  return Object.fromEntries(stored);
}

const defaults = Object.fromEntries(
  Object.entries(declaredSettings).map(([name, declared]) => [name, declared.default]),
);

export function withDefaults(stored: StoredSettings): ProviderSettings {
  return { trigger_mode: "code", ...defaults, ...stored } as ProviderSettings;
}

/** A text that is filled in, while its flag is on. */
export function usedText(settings: ProviderSettings, name: TextWithFlag): string | undefined {
  return (settings[flagOfText[name]] && settings[name]?.trim()) || undefined;
}

/** Says if each step has a status at the host. */
export function showsSteps(stored: StoredSettings): boolean {
  const { publish_commit_status, publish_commit_status_per_step } = withDefaults(stored);
  return publish_commit_status && publish_commit_status_per_step;
}

/** The settings of a provider, as answers show them. */
export function shownSettings(provider: ProviderId, stored: StoredSettings): Record<string, unknown> {
  const own = Object.entries(withDefaults(stored)).filter(
    ([name]) => !isSetting(name) || (declaredSettings[name].of as readonly ProviderId[]).includes(provider),
  );
  return Object.fromEntries(own);
}

function isSetting(name: string): name is Name {
  return Object.hasOwn(declaredSettings, name);
}

/** Its name as messages have it: Build pull requests. */
export function titleOf(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
