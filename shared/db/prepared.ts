import type { Db, Tx } from "./database.ts";
import { refuseInsideTransaction } from "./transaction-guard.ts";

interface Prepared<Row> {
  execute(values: Record<string, unknown>): PromiseLike<Row[]>;
}

/**
 * A query that is put together once for each database, which costs several times what running it does; for hot
 * paths. Its values go where `build` has `sql.placeholder(name)`.
 */
export function prepared<Values extends Record<string, unknown>, Row>(
  build: (db: Db | Tx) => { prepare(): Prepared<Row> },
): (db: Db | Tx, values: Values) => PromiseLike<Row[]> {
  const known = new WeakMap<Db | Tx, Prepared<Row>>();
  return (db, values) => {
    if ("transaction" in db) refuseInsideTransaction("A read through db");
    const query = known.get(db) ?? build(db).prepare();
    known.set(db, query);
    return query.execute(values);
  };
}
