import { namesInSteps } from "../../../shared/conditions/names.ts";
import { findConditionWarning } from "../../../shared/conditions/warnings.ts";
import { patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { ProviderId } from "../../../shared/sources/providers.ts";
import { usedText, withDefaults } from "../../../shared/sources/settings.ts";
import { branchesPath } from "../address/pipeline.ts";
import { conditionPath, providerPath, requestBranchesPath } from "../address/provider.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { buildsInWords } from "./settings-in-words.ts";

/** Says what becomes of the host's events: the settings that are on, then the limits of branches and the filter. */
export function Built({
  pipeline,
  provider,
  request,
}: {
  pipeline: PipelineFacts;
  provider: ProviderId;
  request: MemberRequest;
}) {
  const settings = withDefaults(pipeline.providerSettings);
  const words = settings.trigger_mode === "none" ? [] : buildsInWords(provider, settings);
  const ofRequests = usedText(settings, "pull_request_branch_filter_configuration");
  const condition = usedText(settings, "filter_condition");
  const warning = condition && findConditionWarning(condition, namesInSteps);
  return (
    <section aria-labelledby="built">
      <h2 id="built">What it builds</h2>
      {words.length === 0 ? (
        <p>It builds nothing: builds of events are off in the settings.</p>
      ) : (
        <ul>
          {words.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
          <Limit
            value={pipeline.branchConfiguration}
            words="Of pushes, only branches"
            path={branchesPath(request)}
            none={[
              condition ? "Of pushes, all branches, if the filter is true." : "Of pushes, all branches.",
              "Limit them",
            ]}
          />
          <Limit
            value={ofRequests}
            words="Of pull requests, only branches"
            path={requestBranchesPath(request)}
          />
          <Limit
            value={condition}
            words="Of all of this, only what the filter is true for:"
            path={conditionPath(request)}
            none={["There is no filter.", "Set one"]}
          />
        </ul>
      )}
      {warning && <p class="warning">{warning}</p>}
      <p>
        <a href={providerPath(request, patterns.providerSettingsPage)}>Change it in the settings</a>
      </p>
      {settings.build_pull_request_forks && (
        <p class="quiet">
          Builds of forks get no secrets, no identity tokens, and only the queues and concurrency groups that
          the pipeline’s own steps name.
        </p>
      )}
    </section>
  );
}

/**
 * @param path of the setting
 * @param none the words for an empty setting, and for the link to it. Default: it is left out
 */
function Limit({
  value,
  words,
  path,
  none,
}: {
  value: string | null | undefined;
  words: string;
  path: string;
  none?: [words: string, link: string];
}) {
  if (!value && !none) return null;
  return (
    <li>
      {value ? words : none?.[0]} <a href={path}>{value ? <code>{value}</code> : none?.[1]}</a>
    </li>
  );
}
