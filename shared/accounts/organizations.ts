import type { Db, Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound, type Problem, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { Feature } from "../vocabulary.ts";
import { type Actor, type AuditSubject, audit } from "./audit.ts";
import {
  findOrganization,
  insertOrganization,
  type Organization,
  setOrganizationLimits,
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

export function nameProblems(name: string, field = "name"): Problem[] {
  if (name.trim() === "") return [{ field, message: "Name can't be blank" }];
  if (name.length <= 100) return [];
  return [{ field, message: "Name is too long (maximum is 100 characters)" }];
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
    createdAt,
  };
}

/** @throws Refusal 404 */
export async function updateOrganization(
  services: Services,
  slug: string,
  change: { deliveriesPerHour?: number | undefined; features: Partial<Record<Feature, boolean>> },
): Promise<Organization> {
  return services.db.transaction(async (tx) => {
    const organization = await requireOrganization(tx, slug);
    const updated = {
      deliveriesPerHour: change.deliveriesPerHour ?? organization.deliveriesPerHour,
      features: features.filter((name) => change.features[name] ?? organization.features.includes(name)),
    };
    await setOrganizationLimits(tx, organization.id, updated);
    await auditOrganization(tx, organization, "updated");
    return { ...organization, ...updated };
  });
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
): Promise<void> {
  const userId = await requireOperatorId(tx, organizationId);
  await audit(tx, { organization: { id: organizationId }, userId }, action, subject);
}

async function requireOperatorId(db: Db | Tx, organizationId: string): Promise<string> {
  const operator = await findOperator(db, organizationId);
  if (!operator) throw new Error(`Organization ${organizationId} has no Operator.`);
  return operator.id;
}

function auditOrganization(tx: Tx, { id, slug }: Organization, action: string): Promise<void> {
  return auditAsOperator(tx, id, action, { type: "organization", id, name: slug });
}
