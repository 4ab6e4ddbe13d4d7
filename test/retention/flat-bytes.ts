import type { Db } from "../../shared/db/database.ts";
import { lowestIdAt } from "../../shared/ids.ts";
import { flatKinds, lockRecordTotals, sumFlatBytes } from "../../shared/retention/records-store.ts";

/** The bytes of the pipelines, audit entries and other flat records of an organization that are counted. */
export async function flatBytes(db: Db, organizationId: string): Promise<number> {
  const range = { from: lowestIdAt(new Date(0)), below: await db.transaction(lockRecordTotals) };
  let bytes = 0;
  for (const kind of flatKinds)
    for (const each of await sumFlatBytes(db, kind, range))
      if (each.organizationId === organizationId) bytes += each.bytes;
  return bytes;
}
