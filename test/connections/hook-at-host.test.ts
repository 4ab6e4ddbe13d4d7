import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { createConnection, deleteConnection } from "../../shared/connections/connections.ts";
import { makeHook } from "../../shared/connections/hook-at-host.ts";
import { newConnection } from "../../shared/connections/members.ts";
import { type ConnectionType, connectionFacts, connectionTypes } from "../../shared/connections/types.ts";
import { Refusal } from "../../shared/refusal.ts";
import { describeWorld, withSettings } from "../helpers/databases.ts";
import { startQueuePages } from "../helpers/pages.ts";
import { apis, facts, type StandIn, startStandIn, token } from "./stand-ins.ts";

const settings = { OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8" };
const url = "https://ci.example.com/deliver/signalbox-token";

describeWorld("a webhook at the host", withSettings(startQueuePages, settings), (pages) => {
  const connect = (type: ConnectionType, given: object) =>
    createConnection(
      pages.services,
      pages.actor,
      newConnection.parse({
        type,
        ...(connectionFacts[type].url ? {} : { url: `https://${type.replaceAll("_", "-")}.example.com` }),
        token,
        ...given,
      }),
    );
  const make = (repository: string | null, secret: string | null = "secret") =>
    makeHook(pages.services, { organizationId: pages.acme.id, repository }, { url, secret });
  const refusalOf = async (made: Promise<void>) => {
    const refusal = await made.then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(refusal instanceof Refusal, String(refusal));
    assert.doesNotMatch(JSON.stringify(refusal), /token-of-tests|"secret"/);
    return { status: refusal.status, message: refusal.message, reason: String(refusal.details.reason) };
  };
  const during = async (
    { type, others, ...given }: { type: ConnectionType; others?: number } & Record<string, unknown>,
    run: (host: StandIn, repository: string) => Promise<void>,
  ) => {
    const host = await startStandIn(type, others);
    const connection = await connect(type, { api_url: host.apiUrl, ...given });
    try {
      await run(host, apis[type].repository(connection.host));
    } finally {
      await deleteConnection(pages.services, pages.actor, connection);
      await host.close();
    }
  };

  for (const type of connectionTypes)
    describe(type, () => {
      it("is made, once, and gets another secret", () =>
        during({ type, others: 31 }, async (host, repository) => {
          await make(repository);
          await make(repository, "another secret");
          await make(repository, null);

          assert.deepEqual(host.wrong, []);
          assert.equal(host.hooks.length, 32);
          assert.deepEqual(facts(host.hooks.at(-1)), { url, secret: null });
          assert.equal(host.calls.length, 9);
        }));

      it("has the secret that signs its requests", () =>
        during({ type }, async (host, repository) => {
          await make(repository);
          assert.deepEqual(facts(host.hooks[0]), { url, secret: "secret" });
          await make(repository, "another secret");
          assert.deepEqual(host.hooks.map(facts), [{ url, secret: "another secret" }]);
          assert.deepEqual(host.wrong, []);
        }));

      it("is refused to a token without rights, which are named", () =>
        during({ type, token: "another" }, async (host, repository) => {
          const { status, message, reason } = await refusalOf(make(repository));
          assert.deepEqual([status, message], [422, "Webhooks could not be created for your repository."]);
          assert.match(reason, /^The host answered 401\. The token needs/);
          assert.ok(reason.includes(connectionFacts[type].rights.webhooks));
          assert.deepEqual(host.hooks, []);
        }));
    });

  it("is not supported without a repository, a connection or a token, nor for an address of no repository", async () => {
    const connection = await connect("gitea", { token: null, url: "https://none.example.com" });
    for (const [repository, reason] of [
      [null, /no repository at a host/],
      ["https://github.com/acme/app.git", /no repository connection with a token for github\.com/],
      [
        "https://none.example.com/acme/app.git",
        /no repository connection with a token for none\.example\.com/,
      ],
    ] as const) {
      const refusal = await refusalOf(make(repository));
      assert.equal(refusal.message, "Auto-creating webhooks is not supported for your repository.");
      assert.match(refusal.reason, reason);
    }
    await deleteConnection(pages.services, pages.actor, connection);
    await during({ type: "gitea" }, async ({ calls }) => {
      const refusal = await refusalOf(make("https://gitea.example.com/acme.git"));
      assert.match(refusal.reason, /names no repository of gitea\.example\.com/);
      assert.deepEqual(calls, []);
    });
  });

  it("is made below the path of a host", () =>
    during({ type: "gitlab_self_managed", url: "https://example.com/git/lab/" }, async (host) => {
      await make("https://example.com/git/lab/acme/tools/app.git");
      await make("git@example.com:acme/tools/app.git");
      assert.deepEqual([host.hooks.length, host.wrong], [1, []]);
    }));

  it("says that the host is inside, out of reach, or no such host", async () => {
    const page = createServer((_request, response) => void response.end("<html>"));
    await new Promise<void>((resolve) => void page.listen(0, "127.0.0.1", resolve));
    const { port } = page.address() as AddressInfo;
    for (const [apiUrl, reason] of [
      ["http://10.0.0.7/api/v1", /^10\.0\.0\.7 has no public address.*OUTBOUND_ALLOWED_NETWORKS/],
      ["http://127.0.0.1:1/api/v1", /^127\.0\.0\.1:1 could not be reached/],
      [`http://127.0.0.1:${port}/api/v1`, /what is no list of webhooks/],
    ] as const) {
      const connection = await connect("gitea", { api_url: apiUrl });
      const refusal = await refusalOf(make("https://gitea.example.com/acme/app"));
      assert.equal(refusal.message, "Webhooks could not be created for your repository.");
      assert.match(refusal.reason, reason);
      await deleteConnection(pages.services, pages.actor, connection);
    }
    page.close();
  });

  it("takes no more than three talks of an organization at once", async () => {
    let isOpen = false;
    const waiting: (() => void)[] = [];
    const slow = createServer((_request, response) => {
      if (isOpen) response.end("[]");
      else waiting.push(() => response.end("[]"));
    });
    await new Promise<void>((resolve) => void slow.listen(0, "127.0.0.1", resolve));
    const { port } = slow.address() as AddressInfo;
    const connection = await connect("gitea", { api_url: `http://127.0.0.1:${port}` });
    const talks = [1, 2, 3, 4].map(() => make("https://gitea.example.com/acme/app"));
    const outcomes = Promise.allSettled(talks);

    const { status } = await refusalOf(Promise.race(talks));
    assert.equal(status, 429);
    isOpen = true;
    for (const answer of waiting) answer();
    assert.equal((await outcomes).filter((each) => each.status === "fulfilled").length, 3);
    await deleteConnection(pages.services, pages.actor, connection);
    slow.close();
  });
});
