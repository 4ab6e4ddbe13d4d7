import type { Db, Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound, type Problem, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import type { AuditChange, Feature } from "../vocabulary.ts";
import { type Actor, type AuditSubject, audit } from "./audit.ts";
import { changesOf } from "./audit-changes.ts";
import {
  findOrganization,
  insertOrganization,
  lockOrganization,
  type Organization,
  setOrganization,
} from "./organization-store.ts";
import { findOperator, insertUser, type User } from "./user-store.ts";

export const features: Feature[] = ["windows_hosted_agents", "custom_agent_images", "webhook_filtering"];

const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Checks a name in addresses. */
export function slugProblems(slug: string): Problem[] {
  if (slug.length > 100) return [{ field: "slug", message: "Slug is too long (maximum is 100 characters)" }];
  if (slugPattern.test(slug)) return [];
  return [{ field: "slug", message: "Slug can only contain lower-case letters, numbers and single hyphens" }];
}

/** Of organizations, users and access tokens. */
export const maxNameLength = 100;

export function nameProblems(name: string, field = "name"): Problem[] {
  if (name.trim() === "") return [{ field, message: "Name can't be blank" }];
  if (name.length <= maxNameLength) return [];
  return [{ field, message: `Name is too long (maximum is ${maxNameLength} characters)` }];
}

/**
 * Also creates the built-in Operator.
 * @throws Refusal 422
 */
export async function createOrganization(
  services: Services,
  input: { slug: string; name: string; deliveriesPerHour?: number | undefined },
): Promise<Organization> {
  const problems = [...slugProblems(input.slug), ...nameProblems(input.name)];
  if (problems.length > 0) throw validationFailed(...problems);

  const now = services.clock.now();
  const organization: Organization = {
    id: newId(now),
    slug: input.slug,
    name: input.name,
    deliveriesPerHour: input.deliveriesPerHour ?? services.config.deliveriesPerHour,
    features: [],
    storedBytes: 0,
    keptBytes: 0,
    recordBytes: 0,
    createdAt: now,
  };

  await services.db.transaction(async (tx) => {
    if (await findOrganization(tx, input.slug))
      throw validationFailed({ field: "slug", message: "Slug has already been taken" });
    await insertOrganization(tx, organization);
    await insertUser(tx, newOperator(organization));
    await auditOrganization(tx, organization, "created");
  });
  return organization;
}

function newOperator({ id, slug, createdAt }: Organization): User {
  return {
    id: newId(createdAt),
    email: `operator@${slug}.invalid`,
    name: "Operator",
    passwordHash: null,
    operatorOfId: id,
    deactivatedAt: null,
    hasShortcuts: true,
    createdAt,
  };
}

export interface OrganizationChange {
  name?: string | undefined;
  deliveriesPerHour?: number | undefined;
  /** Absent features stay. */
  features: Partial<Record<Feature, boolean>>;
}

/** Changes an organization, as the operator. @throws Refusal 404 */
export async function updateOrganization(
  services: Services,
  slug: string,
  change: OrganizationChange,
): Promise<Organization> {
  return services.db.transaction(async (tx) => {
    const present = await lockPresent(tx, slug);
    const updated = await applyChange(tx, present, change);
    await auditOrganization(tx, updated, "updated", changesBetween(present, updated));
    return updated;
  });
}

/**
 * Changes an organization, as an admin, who cannot raise the limit above that of new organizations: the operator shares
 * the installation.
 * @throws Refusal 422
 */
export async function changeOrganization(
  { db, config }: Services,
  actor: Actor,
  change: OrganizationChange,
): Promise<Organization> {
  return db.transaction(async (tx) => {
    const present = await lockPresent(tx, actor.organization.slug);
    const { name = present.name, deliveriesPerHour = present.deliveriesPerHour } = change;
    const max = Math.max(present.deliveriesPerHour, config.deliveriesPerHour);
    const problems = [...nameProblems(name), ...limitProblems(deliveriesPerHour, max)];
    if (problems.length > 0) throw validationFailed(...problems);
    const updated = await applyChange(tx, present, change);
    const { id, slug } = updated;
    const subject = { type: "organization", id, name: slug } as const;
    await audit(tx, actor, "updated", subject, changesBetween(present, updated));
    return updated;
  });
}

function limitProblems(deliveriesPerHour: number, max: number): Problem[] {
  if (Number.isInteger(deliveriesPerHour) && deliveriesPerHour > 0 && deliveriesPerHour <= max) return [];
  const message = `Deliveries per hour must be a whole number from 1 to ${max.toLocaleString("en")}`;
  return [{ field: "deliveries_per_hour", message }];
}

function changesBetween(before: Organization, after: Organization) {
  return changesOf({ before, after, shown: ["name", "deliveriesPerHour", "features"] });
}

/** Locks the organization: a change writes unchanged columns too. @throws Refusal 404 */
async function lockPresent(tx: Tx, slug: string): Promise<Organization> {
  const { id } = await requireOrganization(tx, slug);
  const locked = await lockOrganization(tx, id);
  if (!locked) throw notFound("organization");
  return locked;
}

async function applyChange(
  tx: Tx,
  organization: Organization,
  {
    name = organization.name,
    deliveriesPerHour = organization.deliveriesPerHour,
    ...change
  }: OrganizationChange,
): Promise<Organization> {
  const isOn = (feature: Feature) => change.features[feature] ?? organization.features.includes(feature);
  const updated = { name: name.trim(), deliveriesPerHour, features: features.filter(isOn) };
  await setOrganization(tx, organization.id, updated);
  return { ...organization, ...updated };
}

/** @throws Refusal 404 */
export async function requireOrganization(db: Db | Tx, slug: string): Promise<Organization> {
  const organization = await findOrganization(db, slug);
  if (!organization) throw notFound("organization");
  return organization;
}

export async function asOperator(db: Db | Tx, organization: Organization): Promise<Actor> {
  return { organization, userId: await requireOperatorId(db, organization.id) };
}

export async function auditAsOperator(
  tx: Tx,
  organizationId: string,
  action: string,
  subject: AuditSubject,
  changes?: AuditChange[],
): Promise<void> {
  const userId = await requireOperatorId(tx, organizationId);
  await audit(tx, { organization: { id: organizationId }, userId }, action, subject, changes);
}

async function requireOperatorId(db: Db | Tx, organizationId: string): Promise<string> {
  const operator = await findOperator(db, organizationId);
  if (!operator) throw new Error(`Organization ${organizationId} has no Operator.`);
  return operator.id;
}

function auditOrganization(
  tx: Tx,
  { id, slug }: Organization,
  action: string,
  changes?: AuditChange[],
): Promise<void> {
  return auditAsOperator(tx, id, action, { type: "organization", id, name: slug }, changes);
}
