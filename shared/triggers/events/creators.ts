import { listMembersByEmail } from "../../accounts/member-store.ts";
import { normalizeEmail } from "../../accounts/user-store.ts";
import type { Db, Tx } from "../../db/database.ts";
import type { Happened, Person } from "../../sources/happened.ts";

/** Finds the member whose address is that of an author. */
export type FindCreator = (organizationId: string, author: Person | null) => string | undefined;

/** Reads the members among the authors of events, at once. */
export async function readCreators(
  db: Db | Tx,
  events: { organizationId: string; happened: Happened }[],
): Promise<FindCreator> {
  const members = new Map<string, Map<string, string>>();
  for (const [organizationId, own] of Map.groupBy(events, (event) => event.organizationId)) {
    const emails = own
      .flatMap(({ happened }) => authorsOf(happened))
      .flatMap((author) => addressOf(author) ?? []);
    members.set(organizationId, await listMembersByEmail(db, organizationId, [...new Set(emails)]));
  }
  return (organizationId, author) => members.get(organizationId)?.get(addressOf(author) ?? "");
}

function authorsOf(happened: Happened): (Person | null)[] {
  switch (happened.type) {
    case "push":
      return happened.changes.map(({ author }) => author);
    case "pull_request":
      return [happened.request.author];
    case "merge_group":
      return [happened.group.author];
    case "other":
      return [];
  }
}

function addressOf(author: Person | null): string | undefined {
  return author?.email === undefined ? undefined : normalizeEmail(author.email);
}
