import { connectedProviders } from "../../../shared/connections/connected.ts";
import type { PipelineFacts } from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/services/services.ts";
import { providerOf } from "../../../shared/sources/providers.ts";
import type { SourceRepository } from "./commit.tsx";

/** The repository of a pipeline, for links to its commits. */
export async function loadSource(
  services: Pick<Services, "db">,
  { organizationId, repository }: Pick<PipelineFacts, "organizationId" | "repository">,
): Promise<SourceRepository> {
  return { repository, provider: providerOf(repository, await connectedProviders(services, organizationId)) };
}
