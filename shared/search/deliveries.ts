import type { Db } from "../db/database.ts";
import { minuteMs } from "../durations.ts";
import { isId, lowerCaseId, lowestIdAt } from "../ids.ts";
import { findFilled } from "../words/fill-store.ts";
import { listSubjects, listWords } from "../words/find-store.ts";
import { nameOf } from "../words/words.ts";
import { type FoundDelivery, listDeliveriesById, listNewDeliveries } from "./deliveries-store.ts";

const minCharacters = 4;
/** Younger deliveries are looked through until they have their words: within two minutes, while a worker runs. */
const lookedThroughMs = 15 * minuteMs;

/** Deliveries with this id, or whose senders gave them an id that begins so; newest first. */
export async function searchDeliveries(
  db: Db,
  { organizationId, text, limit }: { organizationId: string; text: string; limit: number },
  now: Date,
): Promise<FoundDelivery[]> {
  const name = nameOf(text);
  if (name.length < minCharacters || /\s/.test(name)) return [];
  const scope = { organizationId, kind: "delivery" as const };
  const names = await listWords(db.offLoop, scope, name, limit);
  const youngest = lowestIdAt(new Date(now.getTime() - lookedThroughMs));
  const { last = youngest } = (await findFilled(db, "deliveries")) ?? {};
  const after = last > youngest ? last : youngest;
  const id = lowerCaseId(text);
  const ids = [
    ...(isId(id) ? [id] : []),
    ...(await listNewDeliveries(db.offLoop, { organizationId, externalId: text, after, limit })),
    ...(await listSubjects(db.offLoop, scope, names, { ofEach: limit, limit })),
  ];
  return (await listDeliveriesById(db.offLoop, organizationId, ids)).slice(0, limit);
}
