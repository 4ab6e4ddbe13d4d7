import type { Db, Tx } from "../db/database.ts";
import { findFailingReceiver, listMessagesOfService } from "../outbox/sent-store.ts";
import type { Services } from "../services/services.ts";
import { receiverOf } from "./notification-services.ts";
import type { NotificationService } from "./store.ts";

/** A service whose last requests failed. */
export interface Failing {
  since: Date;
  problem: string;
}

const lookedAt = 20;

/** The services of these that fail, by id. */
export async function listFailingServices(
  { db }: Pick<Services, "db">,
  organizationId: string,
  services: readonly NotificationService[],
): Promise<Map<string, Failing>> {
  const found = new Map<string, Failing>();
  for (const service of services) {
    const failing = await findFailing(db, organizationId, service);
    if (failing) found.set(service.id, failing);
  }
  return found;
}

/** A receiver of it rests, or each of its last messages was refused. */
export async function findFailing(
  db: Db | Tx,
  organizationId: string,
  service: NotificationService,
): Promise<Failing | undefined> {
  const receiver = await findFailingReceiver(db, { organizationId, beginning: receiverOf(service) });
  if (receiver?.failingSince)
    return { since: receiver.failingSince, problem: receiver.problem ?? "It fails" };
  const last = await listMessagesOfService(db, service.id, lookedAt);
  const tried = last.filter(({ state, tries }) => state === "sent" || state === "failed" || tries > 0);
  const good = tried.findIndex(({ state }) => state === "sent");
  const failed = good === -1 ? tried : tried.slice(0, good);
  const [newest, oldest] = [failed[0], failed.at(-1)];
  if (!newest || !oldest) return undefined;
  const { answerStatus, answer } = newest;
  return {
    since: oldest.createdAt,
    problem: answerStatus === null ? (answer ?? "It fails") : `It answered ${answerStatus}`,
  };
}
