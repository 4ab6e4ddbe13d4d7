import type { ComponentChildren } from "preact";
import { namesInSteps } from "../../../shared/conditions/names.ts";
import { findConditionWarning } from "../../../shared/conditions/warnings.ts";
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
  type TextWithFlag,
  usedText,
  withDefaults,
} from "../../../shared/sources/settings.ts";
import { toProblems } from "../../../shared/validation.ts";
import { conditionsGuide } from "../address/guide.ts";
import { branchesPath } from "../address/pipeline.ts";
import { type LoadedProvider, loadProvider, providerPath } from "../address/provider.ts";
import {
  Check,
  codeField,
  conditionField,
  Field,
  FoldedFields,
  FormError,
  PostForm,
  Select,
  TextArea,
} from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import { type FormProblems, tryForm } from "../ui/problems.ts";
import { aboutOf, findTextOf, isOfStatuses, isText, type Name, shownOf } from "./settings-in-words.ts";

/** A group has the settings that it matches, and that no group before it has. */
const groups: [title: string, has: (name: Name) => boolean][] = [
  ["Commit statuses", isOfStatuses],
  ["Merge queue", (name) => name.includes("merge_group")],
  ["Pull requests", (name) => name.includes("pull_request")],
  ["Filter", (name) => name.startsWith("filter")],
  ["Pushes", () => true],
];

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
  const textOf = (name: Name) => (form.get(name) ?? "").trim() || null;
  const settings = shownOf(provider).map((name) => {
    const text = findTextOf(name);
    if (text) return [name, textOf(text) !== null && !form.has(unusedName(text))];
    return [name, isFlag(name) ? form.has(name) : textOf(name)];
  });
  const mode = form.get("trigger_mode") === "none" ? "none" : "code";
  return { ...Object.fromEntries(settings), trigger_mode: mode };
}

/** The box that keeps a text without using it. */
const unusedName = (name: TextWithFlag) => `${name}_unused`;

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
            given={{ request, provider, settings, problems }}
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
  request: MemberRequest;
  provider: ProviderId;
  settings: ProviderSettings;
  problems: FormProblems | undefined;
}

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
  const { request, settings, problems } = given;
  const flags = names.filter(isFlag);
  const on = flags.filter((name) => settings[name] === true).length;
  const id = title.toLowerCase().replaceAll(" ", "-");
  return (
    <FoldedFields
      id={id}
      title={`${title}: ${on} of ${flags.length} on`}
      names={names}
      problems={problems}
      isOpen={request.event.url.searchParams.get("unfold") === id}
    >
      {fields}
    </FoldedFields>
  );
}

function SettingFields({ names, given }: { names: Name[]; given: Given }) {
  const { provider, settings } = given;
  return (
    <>
      {names.map((name) => {
        const label = aboutOf(provider, name).replace(/\.$/, "");
        const value = settings[name];
        if (isText(name)) return <TextField key={name} name={name} label={label} given={given} />;
        if (typeof value !== "boolean" || findTextOf(name)) return null;
        return <Check key={name} label={label} api={name} name={name} checked={value} />;
      })}
    </>
  );
}

function TextField({
  name,
  label,
  given: { request, settings, problems },
}: {
  name: TextWithFlag;
  label: string;
  given: Given;
}) {
  const value = settings[name] ?? "";
  const isCondition = name === "filter_condition";
  const warning = isCondition ? findConditionWarning(value, namesInSteps) : undefined;
  const field = { label, api: name, name, value, hint: hints[name](request), problems };
  return (
    <>
      {isCondition ? <TextArea {...field} {...conditionField} /> : <Field {...field} {...codeField} />}
      {warning && <p class="warning">{warning}</p>}
      {value !== "" && (
        <Check
          label="Keep it without using it"
          name={unusedName(name)}
          checked={usedText(settings, name) === undefined}
        />
      )}
    </>
  );
}

const hints: Record<TextWithFlag, (request: MemberRequest) => ComponentChildren> = {
  filter_condition: (request) => (
    <>
      For tags, authors, labels and messages, as in{" "}
      <code>{'build.branch == "main" && build.message !~ /\\[docs\\]/'}</code>:{" "}
      <a href={conditionsGuide} target="_blank" rel="noopener">
        how to write conditions
      </a>
      . For branches alone, patterns are enough: use <a href={branchesPath(request)}>Branches</a> of the
      pipeline.
    </>
  ),
  pull_request_branch_filter_configuration: () => "Patterns such as main release/*, separated by spaces.",
};
