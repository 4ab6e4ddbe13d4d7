import { type ProviderId, providers } from "../../../shared/sources/providers.ts";
import {
  declaredSettings,
  flagOfText,
  type ProviderSettings,
  type TextWithFlag,
} from "../../../shared/sources/settings.ts";

export type Name = keyof typeof declaredSettings;

/**
 * A text does nothing while its flag is off. Forms ask for the text alone, and one that is filled in is used: a box for the
 * flag is forgotten. A saved text can be kept without its use.
 */
const labels: Record<TextWithFlag, string> = {
  filter_condition: "Filter: builds only what it is true for.",
  pull_request_branch_filter_configuration: "Builds pull requests of these branches only.",
};

const textOfFlag = new Map<Name, TextWithFlag>(
  (Object.keys(flagOfText) as TextWithFlag[]).map((name) => [flagOfText[name], name]),
);

export function isText(name: Name): name is TextWithFlag {
  return Object.hasOwn(flagOfText, name);
}

/** The text that a flag needs. */
export function findTextOf(flag: Name): TextWithFlag | undefined {
  return textOfFlag.get(flag);
}

/** They act on what hosts show of builds. */
export const isOfStatuses = (name: Name) => /status|publish/.test(name);

/** The settings of a provider that pages show. Settings that cannot be switched on are left out. */
export function shownOf(provider: ProviderId): Name[] {
  return (Object.keys(declaredSettings) as Name[]).filter((name) => {
    const declared = declaredSettings[name];
    const isOwn = (declared.of as readonly ProviderId[]).includes(provider);
    return isOwn && !("missing" in declared);
  });
}

/** Its sentence, in the host's own words. */
export function aboutOf(provider: ProviderId, name: Name): string {
  const about = isText(name) ? labels[name] : declaredSettings[name].about;
  return about.replaceAll("pull request", providers[provider].request);
}

/** Says what is built: a sentence for each setting that is on. Settings that need a text have none. */
export function buildsInWords(provider: ProviderId, settings: ProviderSettings): string[] {
  const isOfForks = (name: Name) => name === "prefix_pull_request_fork_branch_names";
  return inWords(provider, settings, (name) => !isOfStatuses(name) && !textOfFlag.has(name))
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
