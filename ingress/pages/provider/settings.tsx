import { patterns } from "../../../shared/paths.ts";
import { updatePipeline } from "../../../shared/pipelines/pipelines.ts";
import { notFound, validationFailed } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type ProviderId, providers } from "../../../shared/sources/providers.ts";
import {
  declaredSettings,
  type GivenSettings,
  givenProviderSettings,
  type ProviderSettings,
  withDefaults,
} from "../../../shared/sources/settings.ts";
import { toProblems } from "../../../shared/validation.ts";
import { type LoadedProvider, loadProvider, providerPath } from "../address/provider.ts";
import { Check, codeField, Field, FoldedFields, FormError, PostForm, Select } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";

type Name = keyof typeof declaredSettings;

/** They act on what hosts show of builds. */
const isOfStatuses = (name: Name) => /status|publish/.test(name);

/** A group has the settings that it matches, and that no group before it has. */
const groups: [title: string, has: (name: Name) => boolean][] = [
  ["Commit statuses", isOfStatuses],
  ["Merge queue", (name) => name.includes("merge_group")],
  ["Pull requests", (name) => name.includes("pull_request")],
  ["Filter", (name) => name.startsWith("filter")],
  ["Pushes", () => true],
];

/** The settings of a provider that pages show. Settings that cannot be switched on are left out. */
function shownOf(provider: ProviderId): Name[] {
  return (Object.keys(declaredSettings) as Name[]).filter((name) => {
    const declared = declaredSettings[name];
    const isOwn = (declared.of as readonly ProviderId[]).includes(provider);
    return isOwn && !("missing" in declared);
  });
}

/** Its sentence, in the host's own words. */
function aboutOf(provider: ProviderId, name: Name): string {
  return declaredSettings[name].about.replaceAll("pull request", providers[provider].request);
}

/** Says what is built: a sentence for each setting that is on. */
export function buildsInWords(provider: ProviderId, settings: ProviderSettings): string[] {
  const isOfForks = (name: Name) => name === "prefix_pull_request_fork_branch_names";
  return inWords(provider, settings, (name) => !isOfStatuses(name))
    .filter(([name]) => settings.build_pull_request_forks || !isOfForks(name))
    .map(([, words]) => words);
}

/** Says what is shown at the host. */
export function statusesInWords(provider: ProviderId, settings: ProviderSettings): string[] {
  const isOfSteps = (name: Name) => name === "use_step_key_as_commit_status";
  return inWords(provider, settings, isOfStatuses)
    .filter(([name]) => settings.publish_commit_status_per_step || !isOfSteps(name))
    .map(([, words]) => words);
}

function inWords(
  provider: ProviderId,
  settings: ProviderSettings,
  isAsked: (name: Name) => boolean,
): [Name, string][] {
  return shownOf(provider)
    .filter((name) => isAsked(name) && settings[name] === true)
    .map((name) => [name, aboutOf(provider, name)]);
}

/** GET …/provider/settings */
export const providerSettingsPage = memberPage(async (services, request) => {
  const { pipeline, provider } = await loadProvider(services, request);
  if (provider === null) throw notFound("provider");
  return show(request, provider, withDefaults(pipeline.providerSettings));
});

/** POST …/provider/settings {trigger_mode, and the provider's own settings by their REST names} */
export const saveProviderSettings = memberAction(async (services, request, form) => {
  const { pipeline, provider } = await loadProvider(services, request);
  if (provider === null) throw notFound("provider");
  const given = readSettings(form, provider);
  const outcome = await tryForm(() => save(services, request, pipeline, given), nameOfField);
  if ("problems" in outcome) return show(request, provider, withDefaults(given), outcome.problems);
  return withNotice(providerPath(request), "provider_saved");
});

/** Settings that the form does not show stay as they are. */
async function save(
  services: Services,
  request: MemberRequest,
  pipeline: LoadedProvider["pipeline"],
  given: GivenSettings,
) {
  const parsed = givenProviderSettings.safeParse(given);
  if (!parsed.success) throw validationFailed(...toProblems(parsed.error, "provider_settings"));
  return updatePipeline(services, request.actor, pipeline, { providerSettings: parsed.data });
}

function nameOfField(member: string): string | undefined {
  return /^provider_settings\.(\w+)$/.exec(member)?.[1];
}

function readSettings(form: URLSearchParams, provider: ProviderId): GivenSettings {
  const settings = shownOf(provider).map((name) => [
    name,
    isFlag(name) ? form.has(name) : (form.get(name) ?? "").trim() || null,
  ]);
  const mode = form.get("trigger_mode") === "none" ? "none" : "code";
  return { ...Object.fromEntries(settings), trigger_mode: mode };
}

function isFlag(name: Name): boolean {
  return typeof declaredSettings[name].default === "boolean";
}

function show(
  request: MemberRequest,
  provider: ProviderId,
  settings: ProviderSettings,
  problems?: FormProblems,
): PageContent {
  const grouped = Map.groupBy(shownOf(provider), (name) => groups.find(([, has]) => has(name))?.[0]);
  const titles = groups.map(([title]) => title).toReversed();
  return narrowPage({
    title: "Settings",
    heading: `Settings of ${providers[provider].title}`,
    problems,
    script: "once.js",
    section: "pipelines",
    content: (
      <PostForm
        path={providerPath(request, patterns.providerSettingsPage)}
        button="Save"
        back={providerPath(request)}
      >
        <FormError problems={problems} />
        <Select
          label="Events of the host"
          api="trigger_mode"
          name="trigger_mode"
          value={settings.trigger_mode}
          options={[
            ["code", "Make builds, as below"],
            ["none", "Make no builds"],
          ]}
          problems={problems}
        />
        {titles.map((title) => (
          <Group
            key={title}
            title={title.replace("Pull request", capital(providers[provider].request))}
            names={grouped.get(title) ?? []}
            given={{ provider, settings, problems }}
          />
        ))}
      </PostForm>
    ),
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface Given {
  provider: ProviderId;
  settings: ProviderSettings;
  problems: FormProblems | undefined;
}

const conditionField = {
  ...codeField,
  hint: 'For example build.branch == "main". For branches alone, the field Branches of the pipeline is enough.',
};

/** The last groups are folded: most people never change them. */
function Group({ title, names, given }: { title: string; names: Name[]; given: Given }) {
  if (names.length === 0) return null;
  const fields = <SettingFields names={names} given={given} />;
  if (title === "Pushes" || title === "Filter")
    return (
      <fieldset>
        <legend>{title}</legend>
        {fields}
      </fieldset>
    );
  const { settings, problems } = given;
  const on = names.filter((name) => settings[name] === true).length;
  const id = title.toLowerCase().replaceAll(" ", "-");
  return (
    <FoldedFields id={id} title={`${title}: ${on} of ${names.length} on`} names={names} problems={problems}>
      {fields}
    </FoldedFields>
  );
}

function SettingFields({ names, given: { provider, settings, problems } }: { names: Name[]; given: Given }) {
  return (
    <>
      {names.map((name) => {
        const label = aboutOf(provider, name).replace(/\.$/, "");
        const value = settings[name];
        if (typeof value === "boolean")
          return <Check key={name} label={label} api={name} name={name} checked={value} />;
        const field = name === "filter_condition" ? conditionField : {};
        return (
          <Field
            key={name}
            label={label}
            api={name}
            name={name}
            value={value ?? ""}
            {...field}
            problems={problems}
          />
        );
      })}
    </>
  );
}
