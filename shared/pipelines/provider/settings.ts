import { describeProblem } from "../../conditions/expression.ts";
import { namesInSteps } from "../../conditions/names.ts";
import { parseCondition } from "../../conditions/parse.ts";
import type { Problem } from "../../refusal.ts";
import type { ProviderId } from "../../sources/providers.ts";
import { type GivenSettings, settingsProblems, storedSettings } from "../../sources/settings.ts";
import type { Pipeline } from "../store.ts";

/** The settings of a pipeline's provider as callers send them. */
export type GivenProviderSettings = GivenSettings & Record<string, unknown>;

/** The reasons why a provider does not allow settings. @param provider null: none, or not known yet */
export function providerSettingsProblems(
  provider: ProviderId | null,
  given: GivenProviderSettings | null | undefined,
): Problem[] {
  if (!given) return [];
  const messages = settingsProblems(provider, given);
  const condition = given.filter_condition ? conditionProblem(given.filter_condition) : undefined;
  return [
    ...messages.map((message) => ({ field: "provider_settings", message })),
    ...(condition ? [{ field: "provider_settings.filter_condition", message: condition }] : []),
  ];
}

function conditionProblem(text: string): string | undefined {
  const parsed = parseCondition(text, namesInSteps);
  return "problem" in parsed ? `Filter condition: ${describeProblem(parsed.problem)}` : undefined;
}

/** The settings to store after a change: absent ones stay, as do flags that are null. A text that is null is emptied. */
export function changedProviderSettings(
  present: Pipeline["providerSettings"],
  given: GivenProviderSettings | null | undefined,
): Pipeline["providerSettings"] {
  if (!given) return present;
  const isText = (name: string) => name === "filter_condition" || name.endsWith("_configuration");
  const sent = Object.entries(given).filter(
    ([name, value]) => value !== undefined && (value !== null || isText(name)),
  );
  const stored = storedSettings({ ...present, ...Object.fromEntries(sent) });
  const named = Object.entries(stored).filter(([, value]) => value !== "");
  return named.length === 0 ? null : (Object.fromEntries(named) as Pipeline["providerSettings"]);
}
