import type { Db, Tx } from "../db/database.ts";
import { exactSize, Refusal } from "../refusal.ts";
import type { Config } from "../settings/config.ts";
import { settings } from "../settings/settings.ts";
import { findOrganizationById, type Organization } from "./organization-store.ts";

/** From this part of the limit on, people are told. */
export const nearlyFull = 0.9;

/**
 * An organization over its limit loses its oldest artifacts, logs and payloads. It is full once the rest alone reaches
 * the limit: records, which are never evicted, and logs of running jobs. All are as they were last counted. Records are
 * builds, jobs, agents, pipelines, triggers, secrets and audit entries.
 */
export type Storage = "roomy" | "nearly-full" | "full";

/** A sentence for members. Undefined while there is room. */
export function storageNotice(
  config: Pick<Config, "storedBytesPerOrganization">,
  organization: Pick<Organization, "storedBytes" | "keptBytes">,
): string | undefined {
  const limit = config.storedBytesPerOrganization;
  const part = Math.floor((100 * organization.storedBytes) / limit);
  const raise = `ask the operator to raise ${settings.storedBytesPerOrganization.name}`;
  switch (storageOf(config, organization)) {
    case "full":
      return `This organization has reached its limit of ${exactSize(limit)}. New builds but those of webhooks, rebuilds, uploads of steps, agents, artifacts, pipelines, triggers and secrets are refused. Delete pipelines that it no longer needs, or ${raise}.`;
    case "nearly-full":
      return `This organization uses ${part} % of the ${exactSize(limit)} that it may store. Above that its oldest artifacts, logs and payloads are deleted. To keep them, ${raise}.`;
    default:
      return undefined;
  }
}

export function storageOf(
  { storedBytesPerOrganization: limit }: Pick<Config, "storedBytesPerOrganization">,
  { storedBytes, keptBytes }: Pick<Organization, "storedBytes" | "keptBytes">,
): Storage {
  if (keptBytes >= limit) return "full";
  return storedBytes >= nearlyFull * limit ? "nearly-full" : "roomy";
}

/** The refusal for people, as the OpenAPI document has it. */
export const storageFull = "Organization has reached its limit of … with its builds and other records: …";

export async function isStorageFull(db: Db | Tx, config: Config, organizationId: string): Promise<boolean> {
  const organization = await findOrganizationById(db, organizationId);
  return organization !== undefined && storageOf(config, organization) === "full";
}

/**
 * Call it before an organization gets builds, jobs, agents, pipelines, triggers or secrets that somebody asks for now. Builds of accepted webhooks and
 * retries need no room.
 * @throws Refusal 422
 */
export async function requireStorage(db: Db | Tx, config: Config, organizationId: string): Promise<void> {
  if (!(await isStorageFull(db, config, organizationId))) return;
  const limit = exactSize(config.storedBytesPerOrganization);
  throw new Refusal(
    422,
    `Organization has reached its limit of ${limit} with its builds and other records: delete pipelines that it no longer needs and wait an hour, or ask the operator to raise ${settings.storedBytesPerOrganization.name}`,
  );
}

/**
 * Call it before artifacts of so many bytes are announced: the expiry of others would make no room for them.
 * @throws Refusal 403, which ends an agent's upload: it repeats others
 */
export async function requireRoomForArtifacts(
  db: Db | Tx,
  config: Config,
  { organizationId, bytes }: { organizationId: string; bytes: number },
): Promise<void> {
  const { artifactBytesPerOrganization, storedBytesPerOrganization } = config;
  const { name } = settings.artifactBytesPerOrganization;
  if (bytes > artifactBytesPerOrganization)
    throw new Refusal(
      403,
      `The artifacts are larger than ${exactSize(artifactBytesPerOrganization)}, which an organization may store of them: ask the operator to raise ${name}`,
    );
  if (await isStorageFull(db, config, organizationId))
    throw new Refusal(
      403,
      `Organization has reached its limit of ${exactSize(storedBytesPerOrganization)}: delete pipelines that it no longer needs and wait an hour, or ask the operator to raise ${settings.storedBytesPerOrganization.name}`,
    );
}
