import { openRows } from "../deliveries/counter.ts";
import type { Scratch } from "../scratch.ts";
import type { Peer } from "./peer.ts";

/** @param queries select a column `key` */
export async function readRows(
  scratch: Scratch,
  databaseUrl: string,
  queries: { runs: string; unfinished: string },
): Promise<Pick<Peer, "countRuns" | "listRuns" | "listUnfinished">> {
  const { query, close } = await openRows(databaseUrl);
  scratch.onClose(close);
  const keys = async (text: string) => (await query(text)).map(({ key }) => String(key));
  return {
    countRuns: async () =>
      Number((await query(`select count(*) as number from (${queries.runs}) as runs`))[0]?.number),
    listRuns: () => keys(queries.runs),
    listUnfinished: () => keys(queries.unfinished),
  };
}
