import { type Actor, audit } from "../accounts/audit.ts";
import { changesOf } from "../accounts/audit-changes.ts";
import { lockOrganization } from "../accounts/organization-store.ts";
import { sealedPlaces } from "../crypto/sealed-places.ts";
import type { Db, Tx } from "../db/database.ts";
import { isId, newId } from "../ids.ts";
import { auditedColumns, changedColumns } from "../members/rows.ts";
import { forgetHearers } from "../news/hearers.ts";
import { putMessages } from "../outbox/put.ts";
import { findMessageOfService } from "../outbox/sent-store.ts";
import { wakeReceivers } from "../outbox/wake-store.ts";
import { notFound, type Problem, validationFailed } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { stored } from "../sharing/bounds.ts";
import { roomProblems } from "../sharing/room.ts";
import type { ServiceProvider, ServiceScope } from "../vocabulary.ts";
import {
  defaultStates,
  type GivenStates,
  type NewNotificationService,
  type NotificationServiceChange,
  notificationServiceMembers,
  serviceStates,
} from "./members.ts";
import { countClustersOf, countPipelinesOf } from "./scope-store.ts";
import { heardEvents, parseChangedSettings, parseNewSettings, providerFacts } from "./settings.ts";
import {
  countNotificationServices,
  deleteNotificationServiceIfPresent,
  findNotificationService,
  insertNotificationService,
  lockNotificationService,
  type NotificationService,
  updateNotificationService as updateRow,
} from "./store.ts";

/**
 * Creates a notification service of an organization.
 * @throws Refusal 422
 */
export async function createNotificationService(
  services: Services,
  actor: Actor,
  input: NewNotificationService,
): Promise<NotificationService> {
  const organizationId = actor.organization.id;
  const created = await services.db.transaction(async (tx) => {
    await lockOrganization(tx, organizationId);
    const problems = [
      ...(await newServiceProblems(services, tx, actor, input)),
      ...(await roomProblems(services.config, stored.notificationServices, (limit) =>
        countNotificationServices(tx, organizationId, limit),
      )),
    ];
    if (problems.length > 0) throw validationFailed(...problems);
    const parsed = parseNewSettings(input.provider, input.settings ?? {});
    if ("problems" in parsed) throw validationFailed(...parsed.problems);
    const { now } = tx;
    const id = newId(now);
    const states = input.buildStates ? statesOf(input.buildStates, []) : defaultStates;
    const service: NotificationService = {
      id,
      organizationId,
      provider: input.provider,
      description: input.description ?? "",
      enabled: true,
      scope: input.scope ?? "all",
      scopeIds: input.scopeIds?.length ? input.scopeIds : null,
      branchConfiguration: input.branchConfiguration?.trim() || null,
      buildStates: states,
      events: heardEvents(input.provider, parsed.settings, states),
      settings: parsed.settings,
      secretSealed: sealSecret(services, id, parsed.secret) ?? null,
      failureMailedAt: null,
      createdAt: now,
      createdById: actor.userId,
      updatedAt: now,
      updatedById: actor.userId,
    };
    await insertNotificationService(tx, service);
    await audit(tx, actor, "created", auditSubject(service));
    await announce(tx, service);
    return service;
  });
  forgetHearers(organizationId);
  return created;
}

/** The reasons why the organization does not allow the members of a new service. */
export async function newServiceProblems(
  services: Pick<Services, "config">,
  db: Db | Tx,
  { organization }: Actor,
  { provider, settings = {}, scope = "all", scopeIds = [] }: Partial<NewNotificationService>,
): Promise<Problem[]> {
  const parsed = provider && parseNewSettings(provider, settings);
  return [
    ...providerProblems(services, provider),
    ...(parsed && "problems" in parsed ? parsed.problems : []),
    ...(await scopeProblems(db, organization.id, { scope, scopeIds, known: [] })),
  ];
}

/**
 * Changes the given members of a service. Settings and states that are left out stay.
 * @throws Refusal 404, 422
 */
export async function updateNotificationService(
  services: Services,
  actor: Actor,
  { id }: Pick<NotificationService, "id">,
  change: NotificationServiceChange,
): Promise<NotificationService> {
  const updated = await services.db.transaction(async (tx) => {
    const before = await lockNotificationService(tx, id);
    if (!before) throw notFound("notification service");
    const problems = await serviceChangeProblems(tx, before, change);
    if (problems.length > 0) throw validationFailed(...problems);
    const { settings: given, buildStates: givenStates, provider: _, ...members } = change;
    const parsed = parseChangedSettings(before.provider, before.settings ?? {}, given ?? {});
    if ("problems" in parsed) throw validationFailed(...parsed.problems);
    const buildStates = statesOf(givenStates ?? {}, before.buildStates ?? []);
    const secretSealed = sealSecret(services, id, parsed.secret);
    const columns: Partial<NotificationService> = {
      ...changedColumns<NotificationService>(members),
      ...(members.description !== undefined && { description: members.description ?? "" }),
      ...(members.scope === "all" && { scopeIds: null }),
      buildStates,
      events: heardEvents(before.provider, parsed.settings, buildStates),
      settings: parsed.settings,
      ...(secretSealed !== undefined && { secretSealed }),
      updatedAt: tx.now,
      updatedById: actor.userId,
    };
    await updateRow(tx, id, columns);
    const after = { ...before, ...columns };
    const compared = auditedColumns<NotificationService>(notificationServiceMembers);
    const changes = changesOf({ before, after, ...compared });
    if (secretSealed !== undefined && !changes.some(({ field }) => field === "settings"))
      changes.push({ field: "settings" });
    await audit(tx, actor, "updated", auditSubject(after), changes);
    await announce(tx, after);
    return after;
  });
  forgetHearers(updated.organizationId);
  return updated;
}

/** The reasons why a service does not allow a change. */
export async function serviceChangeProblems(
  db: Db | Tx,
  service: NotificationService,
  { provider, settings, scope = service.scope, scopeIds }: NotificationServiceChange,
): Promise<Problem[]> {
  const { organizationId } = service;
  const known = scope === service.scope ? (service.scopeIds ?? []) : [];
  const parsed = settings && parseChangedSettings(service.provider, service.settings ?? {}, settings);
  return [
    ...(provider === undefined || provider === service.provider
      ? []
      : [{ field: "provider", message: "Provider cannot be changed" }]),
    ...(parsed && "problems" in parsed ? parsed.problems : []),
    ...(await scopeProblems(db, organizationId, { scope, scopeIds: scopeIds ?? known, known })),
  ];
}

/** Switches a service on or off. Switched on, it is tried again at once. @throws Refusal 404 */
export async function setServiceEnabled(
  services: Services,
  actor: Actor,
  { id }: Pick<NotificationService, "id">,
  enabled: boolean,
): Promise<NotificationService> {
  const switched = await services.db.transaction(async (tx) => {
    const before = await lockNotificationService(tx, id);
    if (!before) throw notFound("notification service");
    const columns = { enabled, updatedAt: tx.now, updatedById: actor.userId };
    await updateRow(tx, id, columns);
    const after = { ...before, ...columns };
    if (before.enabled !== enabled) {
      const changes = [{ field: "enabled", before: before.enabled, after: enabled }];
      await audit(tx, actor, "updated", auditSubject(after), changes);
    }
    await announce(tx, after);
    return after;
  });
  forgetHearers(switched.organizationId);
  return switched;
}

/** Deletes a service. What waits for it is dropped when its turn comes. @throws Refusal 404 */
export async function deleteNotificationService(
  { db }: Services,
  actor: Actor,
  { id }: Pick<NotificationService, "id">,
): Promise<void> {
  const { organizationId } = await db.transaction(async (tx) => {
    const deleted = await deleteNotificationServiceIfPresent(tx, id);
    if (!deleted) throw notFound("notification service");
    await audit(tx, actor, "deleted", auditSubject(deleted));
    return deleted;
  });
  forgetHearers(organizationId);
}

/** Sends what a message told of once more, as a message of its own. @throws Refusal 404 */
export async function sendAgain(
  { db }: Services,
  service: NotificationService,
  messageId: string,
): Promise<void> {
  const { organizationId, id: serviceId } = service;
  const sent = isId(messageId) ? await findMessageOfService(db, { serviceId, id: messageId }) : undefined;
  if (!sent) throw notFound("request");
  const { kind, receiver, event, buildId, jobId, agentId, target } = sent;
  const again = { kind, receiver, serviceId, event, buildId, jobId, agentId, target };
  await db.transaction((tx) => putMessages(tx, organizationId, [again]));
}

/** @throws Refusal 404 */
export async function requireNotificationService(
  db: Db | Tx,
  organizationId: string,
  id: string,
): Promise<NotificationService> {
  const found = isId(id) ? await findNotificationService(db, organizationId, id) : undefined;
  if (!found) throw notFound("notification service");
  return found;
}

/** The secret of a service: the token of a webhook, the address of a chat. */
export function secretOf(
  { cipher }: Pick<Services, "cipher">,
  { id, secretSealed }: Pick<NotificationService, "id" | "secretSealed">,
): string | undefined {
  return secretSealed === null ? undefined : cipher.open(secretSealed, sealedPlaces.secretOfService(id));
}

/** The receiver of its messages. Mails have one for each address, whose key begins so. */
export function receiverOf({ id }: Pick<NotificationService, "id">): `service:${string}` {
  return `service:${id}`;
}

/** Its description, else the name of its provider. */
export function titleOfService({
  description,
  provider,
}: Pick<NotificationService, "description" | "provider">) {
  return description || providerFacts[provider].name;
}

/** Tries a service that was saved at once, whatever it answered before, and pings a webhook that wants it. */
async function announce(tx: Tx, service: NotificationService): Promise<void> {
  const { organizationId, id: serviceId, enabled } = service;
  if (!enabled) return;
  const receiver = receiverOf(service);
  await wakeReceivers(tx, service, receiver);
  const { events } = service.settings as { events?: string[] };
  if (events?.includes("ping"))
    await putMessages(tx, organizationId, [{ kind: "service", receiver, serviceId, event: "ping" }]);
}

function providerProblems(
  { config }: Pick<Services, "config">,
  provider: ServiceProvider | undefined,
): Problem[] {
  if (provider !== "email" || config.smtpUrl !== undefined) return [];
  return [{ field: "provider", message: "Provider email is not available: the operator sets SMTP_URL" }];
}

/** @param known ids that are stored already: what they named may be gone */
async function scopeProblems(
  db: Db | Tx,
  organizationId: string,
  { scope, scopeIds, known }: { scope: ServiceScope; scopeIds: string[]; known: string[] },
): Promise<Problem[]> {
  const problem = (message: string) => [{ field: "scope_uuids", message }];
  if (scope === "all")
    return scopeIds.length > 0 ? problem("Scope UUIDs must be empty for the scope all") : [];
  if (scopeIds.length === 0) return problem("Scope UUIDs can't be blank");
  const fresh = scopeIds.filter((id) => !known.includes(id));
  const count = scope === "some_projects" ? countPipelinesOf : countClustersOf;
  const what = scope === "some_projects" ? "pipelines" : "clusters";
  return (await count(db, organizationId, fresh)) === fresh.length
    ? []
    : problem(`Scope UUIDs must be ids of ${what} of the organization`);
}

/** @param present those that stay if nothing is said of them */
function statesOf(given: GivenStates, present: readonly string[]): string[] {
  return serviceStates.filter((state) => given[state] ?? present.includes(state));
}

/** Undefined: it stays. */
function sealSecret({ cipher }: Services, id: string, secret: string | undefined): string | undefined {
  return secret === undefined ? undefined : cipher.seal(secret, sealedPlaces.secretOfService(id));
}

function auditSubject(service: NotificationService) {
  return { type: "notification_service", id: service.id, name: titleOfService(service) } as const;
}
