import type { Db, Tx } from "../db/database.ts";
import { newId } from "../ids.ts";
import { notFound, validationFailed } from "../refusal.ts";
import type { Services } from "../runtime/services.ts";
import type { Feature } from "../vocabulary.ts";
import type { Actor } from "./audit.ts";
import {
  findOrganization,
  insertOrganization,
  type Organization,
  setOrganizationLimits,
} from "./organization-store.ts";
import { findOperator, insertUser, type User } from "./user-store.ts";

export const features: Feature[] = ["windows_hosted_agents", "custom_agent_images", "webhook_filtering"];

const slugPattern = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** Reasons why this cannot be a slug: what stands in addresses of organizations and pipelines. */
export function slugProblems(slug: string): string[] {
  if (slug.length > 100) return ["Slug is too long (maximum is 100 characters)"];
  return slugPattern.test(slug)
    ? []
    : ["Slug can only contain lower-case letters, numbers and single hyphens"];
}

/** Reasons why this cannot be the name of something that people see. */
export function nameProblems(name: string): string[] {
  if (name.trim() === "") return ["Name can't be blank"];
  return name.length > 100 ? ["Name is too long (maximum is 100 characters)"] : [];
}

/**
 * A new organization, with its built-in Operator.
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
  const operator: User = {
    id: newId(now),
    email: `operator@${input.slug}.invalid`,
    name: "Operator",
    passwordHash: null,
    operatorOfId: organization.id,
    deactivatedAt: null,
    createdAt: now,
  };

  await services.db.transaction(async (tx) => {
    if (await findOrganization(tx, input.slug)) throw validationFailed("Slug has already been taken");
    await insertOrganization(tx, organization);
    await insertUser(tx, operator);
  });
  return organization;
}

/**
 * Change an organization's limit of deliveries an hour, or switch features on and off.
 * @throws Refusal 404
 */
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
    return { ...organization, ...updated };
  });
}

export async function requireOrganization(db: Db | Tx, slug: string): Promise<Organization> {
  const organization = await findOrganization(db, slug);
  if (!organization) throw notFound("organization");
  return organization;
}

export async function requireOperator(db: Db | Tx, organization: Organization): Promise<User> {
  const operator = await findOperator(db, organization.id);
  if (!operator) throw new Error(`Organization ${organization.id} has no Operator.`);
  return operator;
}

/** The built-in Operator, who makes what the operator's command makes. */
export async function asOperator(db: Db | Tx, organization: Organization): Promise<Actor> {
  return { organization, userId: (await requireOperator(db, organization)).id };
}
