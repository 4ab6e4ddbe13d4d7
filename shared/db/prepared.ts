import type { Db, Tx } from "./database.ts";
import { refuseInsideTransaction } from "./transaction-guard.ts";

interface Prepared<Row> {
  execute(values: Record<string, unknown>): PromiseLike<Row[]>;
}

/**
 * A query that is put together once for each database, which costs several times what running it does; for hot
 * paths. Its values go where `build` has `sql.placeholder(name)`; null only into columns of text. What is compared to
 * a column of another kind is wrapped: `sql.param(sql.placeholder(name), column)`.
 */
export function prepared<Values extends Record<string, unknown>, Row, On extends Db | Tx = Db | Tx>(
  build: (db: On) => { prepare(): Prepared<Row> },
): (db: On, values: Values) => PromiseLike<Row[]> {
  const known = new WeakMap<On, Prepared<Row>>();
  return (db, values) => {
    if ("transaction" in db) refuseInsideTransaction("A read through db");
    const query = known.get(db) ?? build(db).prepare();
    known.set(db, query);
    return query.execute(values);
  };
}
