import { findStatusTarget } from "../../../shared/connections/calls.ts";
import type { Connection } from "../../../shared/connections/store.ts";
import { titleOfConnection } from "../../../shared/connections/types.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { type ProviderId, providers } from "../../../shared/sources/providers.ts";
import { type ProviderSettings, withDefaults } from "../../../shared/sources/settings.ts";
import { contextOfBuild } from "../../../shared/statuses/contexts.ts";
import { findFailure, type StatusFailure } from "../../../shared/statuses/store.ts";
import { connectionPath } from "../connections/address.ts";
import type { MemberRequest } from "../ui/member-page.ts";
import { Age, Time } from "../ui/times.tsx";
import { statusesInWords } from "./settings-in-words.ts";

/** The statuses of a pipeline's commits, and why there are none. */
export interface LoadedStatuses {
  settings: ProviderSettings;
  /** `signalbox/web` */
  context: string;
  /** Why the host gets none. */
  reason?: string;
  connection?: Connection;
  /** The host does not take them at present. */
  failure?: StatusFailure | undefined;
}

export async function loadStatuses(services: Services, pipeline: PipelineFacts): Promise<LoadedStatuses> {
  const settings = withDefaults(pipeline.providerSettings);
  const loaded = {
    settings,
    context: contextOfBuild(services.config, pipeline, { options: null }, settings),
  };
  const found = await findStatusTarget(services, pipeline);
  if ("reason" in found) return { ...loaded, reason: found.reason };
  const { connection } = found.target;
  return { ...loaded, connection, failure: await findFailure(services.db, connection, pipeline.id) };
}

/** The section about commit statuses on the page of a provider. */
export function Statuses({
  statuses: { settings, context, reason, connection, failure },
  provider,
  request,
}: {
  statuses: LoadedStatuses;
  provider: ProviderId;
  request: MemberRequest;
}) {
  const { title } = providers[provider];
  return (
    <section aria-labelledby="statuses">
      <h2 id="statuses">Commit statuses</h2>
      {!settings.publish_commit_status ? (
        <p>{title} shows no states of builds: that is off in the settings.</p>
      ) : reason !== undefined ? (
        <p>
          {title} can show the state of each build at its commit. {reason}
          <ToConnections request={request} />.
        </p>
      ) : (
        <>
          <p>
            {title} shows the state of each build at its commit, as <code>{context}</code>.
          </p>
          <ul>
            {statusesInWords(provider, settings).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </>
      )}
      {failure && connection && (
        <p class="warning">
          Statuses have failed for <Age from={failure.failingSince} />: {failure.problem}. The next try is{" "}
          <Time at={failure.dueAt} />.{" "}
          {request.role === "admin" ? (
            <a href={connectionPath(request, connection)}>{titleOfConnection(connection)}</a>
          ) : (
            "An admin of the organization can change the token of the host."
          )}
        </p>
      )}
    </section>
  );
}

function ToConnections({ request }: { request: MemberRequest }) {
  if (request.role !== "admin") return null;
  return (
    <>
      : see{" "}
      <a href={pathTo(patterns.connectionsPage, { org: request.organization.slug })}>
        Repository connections
      </a>
    </>
  );
}
