import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { forgetConnected } from "../../../shared/connections/connected.ts";
import { newId } from "../../../shared/ids.ts";
import { type Api, openApi, unique } from "../../helpers/api.ts";
import type { TestDatabase } from "../../helpers/databases.ts";
import { post } from "../../helpers/http.ts";

export type ProviderApi = Awaited<ReturnType<typeof openProviderApi>>;

/** The members of an answer that concern a provider. */
export interface Hooked {
  id: string;
  slug: string;
  repository: string | null;
  provider: { id: string; webhook_url: string; secret?: string | null; settings: Record<string, unknown> };
}

export const onGithub = "git@github.com:acme/app.git";
export const webhookPattern = /^https:\/\/hooks\.example\.com\/deliver\/sbwh_[0-9A-Za-z]{49}$/;

export function signed(secret: string, body: string): Record<string, string> {
  const hmac = createHmac("sha256", secret).update(body).digest("hex");
  return { "X-Hub-Signature-256": `sha256=${hmac}` };
}

export async function openProviderApi(database: TestDatabase, settings: Record<string, string> = {}) {
  const api = await openApi(database, { WEBHOOK_URL: "https://hooks.example.com", ...settings });
  return { ...api, ...hooksOf(api) };
}

export function hooksOf(api: Api) {
  const { world, acme } = api;
  return {
    async hooked(body: object = {}): Promise<Hooked> {
      return (await api.newPipeline({ repository: onGithub, ...body })) as unknown as Hooked;
    },
    async shown({ slug }: { slug: string }): Promise<Hooked> {
      const answer = await api.send("GET", `/pipelines/${slug}`);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    },
    async patch({ slug }: { slug: string }, body: object): Promise<Hooked> {
      const answer = await api.send("PATCH", `/pipelines/${slug}`, { body });
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    },
    postTo(address: string, body = "{}", headers: Record<string, string> = {}) {
      return post(world.url + new URL(address).pathname, body, { "X-GitHub-Event": "push", ...headers });
    },
    /** The webhook's row among the triggers. */
    async rowOf({ id }: { id: string }) {
      const { db } = world.services;
      const rows = await db.select().from(db.tables.triggers);
      return rows.find((row) => row.pipelineId === id && row.isProvider && row.deletedAt === null);
    },
    /** Connects the organization with a host. */
    async connect(
      host: string,
      { type = "gitea", networks = null }: { type?: string; networks?: string[] | null } = {},
    ) {
      const { db } = world.services;
      await db.transaction(async (tx) => {
        await tx.insert(tx.tables.repositoryConnections).values({
          id: newId(tx.now),
          organizationId: acme.id,
          type,
          host,
          url: `https://${host}`,
          apiUrl: null,
          tokenSealed: null,
          publishStatuses: true,
          webhookAllowedAddresses: networks,
          failingSince: null,
          restsUntil: null,
          createdAt: tx.now,
          createdById: api.admin.id,
          updatedAt: tx.now,
          updatedById: api.admin.id,
        });
      });
      forgetConnected(acme.id);
    },
    /** A host that no other test connects. */
    newHost: () => `${unique("git")}.example.com`,
  };
}
