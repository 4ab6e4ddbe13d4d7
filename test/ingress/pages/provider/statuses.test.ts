import assert from "node:assert/strict";
import { it } from "node:test";
import { eq } from "drizzle-orm";
import { createConnection } from "../../../../shared/connections/connections.ts";
import { newConnection } from "../../../../shared/connections/members.ts";
import type { Connection } from "../../../../shared/connections/store.ts";
import { requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { read } from "../triggers/trigger-pages.ts";

const at = "/organizations/acme";

describeWorldOn(sqlite, "commit statuses on pages", startQueuePages, (pages) => {
  let made = 0;
  const create = async (repository: string) => {
    const slug = `shown-${++made}`;
    await pages.asAda.post(`${at}/new-pipeline`, {
      ...{ cluster: pages.acme.cluster.id, rows: "0", repository, slug },
    });
    return { slug, path: `${at}/pipelines/${slug}/provider` };
  };
  const connect = (given: object) =>
    createConnection(pages.services, pages.actor, newConnection.parse({ token: "t", ...given }));
  const show = async (path: string) => read(await pages.asAda.get(path));
  /** As the outbox stores it. */
  const fail = async (connection: Connection, slug: string, problem: string) => {
    const { db } = pages.services;
    const { id } = await requirePipeline(db, pages.acme.id, slug);
    const { outboxReceivers, repositoryConnections } = db.tables;
    const now = pages.clock.now();
    await db.transaction(async (tx) => {
      await tx.insert(outboxReceivers).values({
        organizationId: pages.acme.id,
        receiver: `connection:${connection.id}:${id}`,
        dueAt: new Date(now.getTime() + 3_600_000),
        failures: 1,
        failingSince: now,
        problem,
      });
      await tx
        .update(repositoryConnections)
        .set({ failingSince: now })
        .where(eq(repositoryConnections.id, connection.id));
    });
  };

  it("say that the host gets none without a connection, and where to make one", async () => {
    const { path } = await create("git@github.com:acme/app.git");
    const page = await show(path);
    assert.match(page, /There is no repository connection with a token for github\.com/);
    assert.match(page, /href="\/organizations\/acme\/repository_connections"/);
    assert.doesNotMatch(read(await pages.asBob.get(path)), /repository_connections/);
  });

  it("say on the page of the connection that only this machine reaches webhooks at localhost", async () => {
    const { id } = await connect({ type: "github" });
    const page = await show(`${at}/repository_connections/${id}`);
    assert.match(
      page,
      /Only programs on this machine reach <code>http:[^<]*<\/code>\. For senders elsewhere/,
    );
  });

  it("name their context, and what the settings show besides", async () => {
    await connect({ type: "gitea", url: "https://shown.example.com" });
    const { path } = await create("https://shown.example.com/acme/app");
    assert.match(await show(path), new RegExp(`as <code>service/shown-${made}</code>`));

    const settings = { publish_commit_status: "1", publish_commit_status_per_step: "1" };
    await pages.asAda.post(`${path}/settings`, { trigger_mode: "code", ...settings });
    assert.match(await show(path), /Shows the state of each job at the host/);
    await pages.asAda.post(`${path}/settings`, { trigger_mode: "code" });
    assert.match(await show(path), /shows no states of builds: that is off in the settings/);
  });

  it("say since when the host refuses them, why, when it is asked again, and what helps", async () => {
    const connection = await connect({ type: "gitea", url: "https://failing.example.com" });
    const { path, slug } = await create("https://failing.example.com/acme/app");
    await fail(connection, slug, "The host answered 401: the token is wrong or was revoked");

    const provider = await show(path);
    assert.match(provider, /Statuses have failed for <time/);
    assert.match(provider, /answered 401: the token is wrong or was revoked\. The next try is <time/);
    const pageOfConnection = `${at}/repository_connections/${connection.id}`;
    assert.ok(provider.includes(`href="${pageOfConnection}"`));
    assert.match(read(await pages.asBob.get(path)), /An admin of the organization can change the token/);
    const page = await show(pageOfConnection);
    assert.match(page, /The host has refused statuses for <time/);
    assert.ok(page.includes(`href="${path}"`));
    assert.match(await show(`${at}/repository_connections`), /has refused statuses for/);
  });
});
