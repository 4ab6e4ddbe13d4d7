/** Settings on which the code relies. A role, a database and a server may have others. */
const fixed = {
  DateStyle: "ISO, MDY",
  TimeZone: "UTC",
  bytea_output: "hex",
  standard_conforming_strings: "on",
  default_transaction_isolation: "read committed",
  default_transaction_deferrable: "off",
  lock_timeout: "0",
};

/**
 * One statement for the beginning of a connection. Poolers refuse the same settings when a connection starts. The schema
 * is that of our tables, so that those of others in the `search_path` of the role cannot be meant; before the first
 * migration it is the first one there. A `synchronous_commit` that is off would lose what was answered.
 */
export function sessionStatement(limits: Record<string, number>): string {
  const all = { ...fixed, ...limits };
  const settings = Object.entries(all).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  return `select ${settings.join(", ")},
    set_config('synchronous_commit', case current_setting('synchronous_commit') when 'off' then 'on'
      else current_setting('synchronous_commit') end, false),
    set_config('search_path', coalesce(
      (select quote_ident(nspname) from pg_class join pg_namespace on pg_namespace.oid = relnamespace
        where pg_class.oid = to_regclass('schema_migrations')),
      quote_ident(current_schema()), current_setting('search_path')), false)`;
}
