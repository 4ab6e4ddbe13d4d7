import type { Db, Tx } from "../db/database.ts";
import type { Config } from "../process/config.ts";
import { sumOfOrganization } from "../retention/totals-store.ts";

/**
 * An eviction comes each minute, and spares artifacts that their agents have not finished. Until it comes, an organization
 * may store its limit twice.
 */
const maxFactor = 2;

/** Says if an organization may store so many bytes more now, besides those that are counted. */
export async function hasRoomForBytes(
  db: Db | Tx,
  { artifactBytesPerOrganization: limit }: Pick<Config, "artifactBytesPerOrganization">,
  { organizationId, bytes }: { organizationId: string; bytes: number },
): Promise<boolean> {
  const counted = await sumOfOrganization(db, db.tables.artifactTotals, organizationId);
  return counted + bytes <= maxFactor * limit;
}
