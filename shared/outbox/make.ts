import type { Tx } from "../db/database.ts";
import { deleteNews, listNews, lockOrganizationIfFree } from "../news/store.ts";
import type { Services } from "../services/services.ts";
import { Outage } from "../sharing/gatherer.ts";
import { messageKinds } from "../vocabulary.ts";
import type { MessageKinds } from "./kind.ts";
import type { Paced } from "./pace.ts";
import { putMessages } from "./put.ts";

export const newsOfTransaction = 100;

/**
 * Makes messages of the oldest news of an organization. One process at a time does, so that messages have the order of
 * their news.
 * @returns the number of news that it read
 */
export async function makeMessages(
  services: Services,
  { kinds, paced, organizationId }: { kinds: MessageKinds; paced: Paced; organizationId: string },
): Promise<number> {
  const make = (limit: number) =>
    paced(organizationId, (tx) => makeOf(tx, services, { kinds, organizationId, limit }));
  try {
    return await make(newsOfTransaction);
  } catch (error) {
    if (error instanceof Outage) throw error;
    services.log.warn({ err: error, organizationId }, "no messages could be made of some news");
    await makeOfOldest(services, kinds, organizationId);
    return newsOfTransaction;
  }
}

/** Makes messages of the oldest news, without the kinds that fail: others must not wait for them forever. */
async function makeOfOldest(services: Services, kinds: MessageKinds, organizationId: string): Promise<void> {
  const { db, log } = services;
  const sound: MessageKinds = {};
  for (const name of messageKinds) {
    const kind = kinds[name];
    if (!kind) continue;
    const makes = async (tx: Tx) =>
      kind.messagesOf(tx, services, await listNews(tx, { organizationId, limit: 1 }));
    try {
      await db.transaction(makes);
      sound[name] = kind;
    } catch (error) {
      if (error instanceof Outage) throw error;
      log.error(
        { err: error, organizationId, kind: name },
        "news was left out: no message could be made of it",
      );
    }
  }
  await db.transaction((tx) => makeOf(tx, services, { kinds: sound, organizationId, limit: 1 }));
}

async function makeOf(
  tx: Tx,
  services: Services,
  { kinds, organizationId, limit }: { kinds: MessageKinds; organizationId: string; limit: number },
): Promise<number> {
  if (!(await lockOrganizationIfFree(tx, organizationId))) return 0;
  const news = await listNews(tx, { organizationId, limit });
  if (news.length === 0) return 0;
  const messages = [];
  for (const kind of messageKinds)
    for (const message of (await kinds[kind]?.messagesOf(tx, services, news)) ?? [])
      messages.push({ ...message, kind });
  await putMessages(tx, organizationId, messages);
  await deleteNews(tx, { ids: news.map(({ id }) => id) });
  return news.length;
}
