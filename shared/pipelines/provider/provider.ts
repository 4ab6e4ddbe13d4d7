import { connectedProvidersIn } from "../../connections/connected.ts";
import type { Db, Tx } from "../../db/database.ts";
import { type ProviderId, pathOf, providerOf } from "../../sources/providers.ts";
import { shownSettings } from "../../sources/settings.ts";
import type { Pipeline } from "../store.ts";

/** The provider of a repository of an organization. Null: its host is none that the organization has. */
export async function providerIn(
  db: Db | Tx,
  { organizationId, repository }: Pick<Pipeline, "organizationId" | "repository">,
): Promise<ProviderId | null> {
  if (providerOf(repository) !== null || repository === null) return providerOf(repository);
  return providerOf(repository, await connectedProvidersIn(db, organizationId));
}

/** The provider of a pipeline, and its settings as callers see them. */
export function shownProvider(
  { repository, providerSettings }: Pick<Pipeline, "repository" | "providerSettings">,
  connected: ReadonlyMap<string, ProviderId>,
): { id: ProviderId | "private"; settings: Record<string, unknown> } {
  const id = providerOf(repository, connected);
  if (id === null || repository === null) return { id: "private", settings: {} };
  const settings = shownSettings(id, providerSettings);
  return { id, settings: { ...settings, repository: pathOf(repository) ?? "" } };
}
