import { eq, inArray, sql } from "drizzle-orm";
import type { AuditSubject } from "../accounts/audit.ts";
import type { Tx } from "../db/database.ts";
import type { SealedColumn } from "../db/sealed-store.ts";

type Owner = AuditSubject & { organizationId: string };

/** Pipelines, triggers, builds, secrets, repository connections or notification services, as subjects of the audit log. Signing keys are of no organization. */
export async function listOwnersOfSealed(tx: Tx, column: SealedColumn, ids: string[]): Promise<Owner[]> {
  const { pipelines, triggers, builds, secrets, repositoryConnections, notificationServices } = tx.tables;
  if (column === "signingKeys.privateKeySealed") return [];
  if (column === "secrets.valueSealed") {
    const { id, key: name, organizationId } = secrets;
    const rows = await tx.select({ id, name, organizationId }).from(secrets).where(inArray(id, ids));
    return rows.map((row) => ({ ...row, type: "secret" }));
  }
  if (column === "repositoryConnections.tokenSealed") {
    const { id, host: name, organizationId } = repositoryConnections;
    const rows = await tx
      .select({ id, name, organizationId })
      .from(repositoryConnections)
      .where(inArray(id, ids));
    return rows.map((row) => ({ ...row, type: "repository_connection" }));
  }
  if (column === "notificationServices.secretSealed") {
    const { id, description, provider, organizationId } = notificationServices;
    const rows = await tx
      .select({ id, description, provider, organizationId })
      .from(notificationServices)
      .where(inArray(id, ids));
    return rows.map(({ description, provider, ...row }) => ({
      ...row,
      name: description || provider,
      type: "notification_service",
    }));
  }
  if (column === "pipelines.environmentSealed") {
    const { id, name, organizationId } = pipelines;
    const rows = await tx.select({ id, name, organizationId }).from(pipelines).where(inArray(id, ids));
    return rows.map((row) => ({ ...row, type: "pipeline" }));
  }
  if (column === "builds.environmentSealed" || column === "builds.uploadedEnvironmentSealed") {
    const { id, organizationId } = builds;
    const rows = await tx
      .select({ id, slug: pipelines.slug, number: builds.number, organizationId })
      .from(builds)
      .innerJoin(pipelines, eq(pipelines.id, builds.pipelineId))
      .where(inArray(id, ids));
    return rows.map(({ slug, number, ...row }) => ({ ...row, type: "build", name: `${slug} #${number}` }));
  }
  const rows = await tx
    .select({ id: triggers.id, name: triggers.label, organizationId: pipelines.organizationId })
    .from(triggers)
    .innerJoin(pipelines, eq(pipelines.id, triggers.pipelineId))
    .where(inArray(triggers.id, ids));
  return rows.map((row) => ({ ...row, type: "trigger" }));
}

/** Deletes rows that are nothing without their sealed text. */
export async function deleteOwnersOfSealed(tx: Tx, column: SealedColumn, ids: string[]): Promise<void> {
  const { secrets, signingKeys } = tx.tables;
  const table = column === "signingKeys.privateKeySealed" ? signingKeys : secrets;
  if (ids.length > 0) await tx.delete(table).where(inArray(table.id, ids));
}

export async function disableTriggers(tx: Tx, ids: string[]): Promise<void> {
  const { triggers } = tx.tables;
  await tx
    .update(triggers)
    .set({ enabled: false, version: sql`${triggers.version} + 1` })
    .where(inArray(triggers.id, ids));
}
