import { createCluster } from "../../shared/clusters/clusters.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { request } from "../helpers/http.ts";
import { startQueuePages } from "../helpers/pages.ts";
import { fillIn, type Resource, type Row } from "./resource.ts";

/** Opens pages of acme, and calls its REST API as an admin. */
export async function openResources(database: TestDatabase) {
  const pages = await startQueuePages(database, {
    API_REQUESTS_PER_MINUTE: "100000",
    CLUSTERS_PER_ORGANIZATION: "1000",
    QUEUES_PER_CLUSTER: "1000",
    SECRETS_PER_CLUSTER: "1000",
    SCHEDULES_PER_PIPELINE: "1000",
    REGISTRATION_TOKENS_PER_CLUSTER: "1000",
    PIPELINES_PER_ORGANIZATION: "5000",
    REPOSITORY_CONNECTIONS_PER_ORGANIZATION: "1000",
    NOTIFICATION_SERVICES_PER_ORGANIZATION: "1000",
  });
  const token = await pages.acme.token(
    ...(["read_clusters", "write_clusters", "read_secrets_details", "write_secrets"] as const),
    ...(["read_pipelines", "write_pipelines", "write_builds"] as const),
    ...(["read_organization_repository_connections", "write_organization_repository_connections"] as const),
  );
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const send = (method: string, path: string, body?: object) =>
    request(`${pages.url}/v2/organizations/acme${path}`, {
      method,
      headers,
      ...(body && method !== "GET" && { body: JSON.stringify(body) }),
    });
  await createCluster(pages.services, pages.actor, { name: "Second" });
  return {
    ...pages,
    send,
    /** Below the organization. */
    addressOf(resource: Resource, row: Row): string {
      return `${fillIn(resource.path, pages)}/${row[resource.key ?? "id"]}`;
    },
    /** A new row, without a secret that only this answer shows. */
    async make(resource: Resource, given: object = {}) {
      const { status, body, text } = await send("POST", fillIn(resource.path, pages), {
        ...resource.body(pages),
        ...given,
      });
      if (status !== 201) throw new Error(text);
      const { token: _secret, ...row } = body;
      return { at: this.addressOf(resource, row), row: row as Row };
    },
    /** The page that has the row which was made last, of pages of 30 rows, as those for people have. */
    async newest(resource: Resource): Promise<{ page: number; rows: Row[] }> {
      const path = `${fillIn(resource.path, pages)}?per_page=30`;
      const { body, headers } = await send("GET", path);
      const last = /[?&]page=(\d+)[^>]*>; rel="last"/.exec(headers.get("link") ?? "")?.[1];
      if (resource.isNewestFirst || last === undefined) return { page: 1, rows: body };
      return { page: Number(last), rows: (await send("GET", `${path}&page=${last}`)).body };
    },
    async list(resource: Resource): Promise<Row[]> {
      const rows: Row[] = [];
      for (let page = 1; rows.length === (page - 1) * 100; page++)
        rows.push(...(await send("GET", `${fillIn(resource.path, pages)}?per_page=100&page=${page}`)).body);
      return rows;
    },
  };
}
