import { isSqliteUrl } from "../../../shared/db/open.ts";
import { query } from "./catalog.ts";

/** The ids of these rows begin so, and no others do. */
export const historyIds = "00000000-0000-7000-8000-";

/**
 * Fills a database of the first release with deliveries, payloads, builds and jobs that have ended, of an organization
 * of their own. Of each 50 builds, one is paused.
 */
export async function addHistory(url: string, rows: number, first = 1): Promise<void> {
  const isSqlite = isSqliteUrl(url);
  const id = (number: string | number, kind: number) =>
    isSqlite
      ? `printf('${historyIds}${kind.toString(16)}%011x', ${number})`
      : `('${historyIds}${kind.toString(16)}' || lpad(to_hex(${number}), 11, '0'))::uuid`;
  const at = isSqlite ? "1790000000000" : "to_timestamp(1790000000)";
  const body = isSqlite ? "zeroblob(900)" : "convert_to(repeat('0123456789', 90), 'UTF8')";
  const yes = isSqlite ? "1" : "true";
  const each = isSqlite
    ? `(WITH RECURSIVE series(n) AS (SELECT ${first} UNION ALL SELECT n + 1 FROM series WHERE n < ${first + rows - 1}) SELECT n FROM series)`
    : `generate_series(${first}, ${first + rows - 1}) AS series(n)`;
  const [organization, user, cluster, queue, pipeline, trigger] = [1, 2, 3, 4, 5, 6].map((kind) =>
    id(0, kind),
  );
  const owners = `
    INSERT INTO organizations (id, slug, name, deliveries_per_hour, features, created_at)
      VALUES (${organization}, 'history', 'History', 300, '[]', ${at});
    INSERT INTO users (id, email, name, created_at) VALUES (${user}, 'history@example.com', 'History', ${at});
    INSERT INTO clusters (id, organization_id, name, created_at, created_by_id)
      VALUES (${cluster}, ${organization}, 'History', ${at}, ${user});
    INSERT INTO queues (id, cluster_id, key, retry_agent_affinity, created_at, created_by_id)
      VALUES (${queue}, ${cluster}, 'history', 'prefer-warmest', ${at}, ${user});
    INSERT INTO pipelines (id, organization_id, cluster_id, slug, name, default_branch, steps, last_build_number, created_at, created_by_id)
      VALUES (${pipeline}, ${organization}, ${cluster}, 'history', 'History', 'main', '[]', 100000000, ${at}, ${user});
    INSERT INTO triggers (id, pipeline_id, type, label, enabled, version, token_hash, token_hint, created_at, created_by_id, updated_at, updated_by_id)
      VALUES (${trigger}, ${pipeline}, 'webhook', 'History', ${yes}, 1, 'history', 'hint', ${at}, ${user}, ${at}, ${user});`;
  const jobsOf = (kind: number) => `
    INSERT INTO jobs (id, build_id, queue_id, label, command, state, exit_status, created_at, started_at, finished_at, dispatch_paused_at)
      SELECT ${id("n", kind)}, ${id("n", 9)}, ${queue}, 'test', 'make test', CASE WHEN n % 50 = 0 THEN 'scheduled' ELSE 'passed' END,
        0, ${at}, ${at}, ${at}, CASE WHEN n % 50 = 0 THEN ${at} END FROM ${each} WHERE ${kind === 10} OR n % 10 = 0;`;
  await query(
    url,
    `${first === 1 ? owners : ""}
    INSERT INTO deliveries (id, trigger_id, received_at, content_type, external_id, size, status, enqueued_at)
      SELECT ${id("n", 7)}, ${trigger}, ${at}, 'application/json', ${id("n", 8)}, 900, 'build_created', ${at} FROM ${each};
    INSERT INTO payloads (delivery_id, organization_id, size, headers, body)
      SELECT ${id("n", 7)}, ${organization}, 900, '{"user-agent":"history"}', ${body} FROM ${each};
    INSERT INTO builds (id, organization_id, pipeline_id, number, delivery_id, state, message, "commit", branch, environment, source, created_at, started_at, finished_at, paused_queue_id)
      SELECT ${id("n", 9)}, ${organization}, ${pipeline}, n, ${id("n", 7)}, 'passed', 'A build of history', 'HEAD', 'main', '{}', 'webhook',
        ${at}, ${at}, ${at}, CASE WHEN n % 50 = 0 THEN ${queue} END FROM ${each};
    ${jobsOf(10)}
    ${jobsOf(11)}`,
  );
}
