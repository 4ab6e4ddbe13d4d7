import assert from "node:assert/strict";
import { asOperator } from "../../shared/accounts/organizations.ts";
import { createConnection, deleteConnection } from "../../shared/connections/connections.ts";
import { newConnection } from "../../shared/connections/members.ts";
import { type ConnectionType, connectionFacts } from "../../shared/connections/types.ts";
import { openOutbox } from "../../shared/outbox/outbox.ts";
import { openDueEvents } from "../../shared/process/due.ts";
import type { GivenSettings } from "../../shared/sources/settings.ts";
import { statusKind } from "../../shared/statuses/kind.ts";
import { apis, token } from "../connections/stand-ins.ts";
import { openAgentApi, startAgent } from "../helpers/agent.ts";
import { unique } from "../helpers/api.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { startStatusHost } from "./host-stand-in.ts";

export const commit = "0123456789abcdef0123456789abcdef01234567";

export type StatusWorld = Awaited<ReturnType<typeof openStatusWorld>>;
export type Connected = Awaited<ReturnType<StatusWorld["connect"]>>;

/** Requests of tests reach hosts on this machine. */
export const reachable = { OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8" };

/** An installation whose outbox sends statuses, and nothing else. */
export async function openStatusWorld(database: TestDatabase) {
  const api = await openHostedWorld(database);
  // It listens to nobody: a test says when it sends.
  const outbox = openOutbox({ ...api.world.services, due: openDueEvents() }, { status: statusKind });
  return {
    ...api,
    /** Runs a test with a host that is connected, all of whose requests must be as the host describes them. */
    async onHost(
      type: ConnectionType,
      run: (connected: Awaited<ReturnType<typeof api.connect>>) => Promise<void>,
      given: object = {},
    ) {
      const connected = await api.connect(type, given);
      try {
        await run(connected);
        assert.deepEqual(connected.host.wrong, []);
      } finally {
        await connected.close();
      }
    },
    /** Sends all that is due. */
    async send() {
      outbox.wake();
      await outbox.idle();
    },
    async close() {
      await outbox.close();
      await api.close();
    },
  };
}

/** An installation that connects to source hosts. Nobody sends. */
export async function openHostedWorld(database: TestDatabase) {
  const api = await openAgentApi(database, reachable);
  const { services } = api.world;
  const { db } = services;
  const [organization] = await db.select().from(db.tables.organizations);
  if (!organization) throw new Error("There is no organization.");
  const actor = await asOperator(db, organization);

  /** A host with a connection to it. */
  const connect = async (type: ConnectionType, given: object = {}) => {
    const host = await startStatusHost(type);
    const connection = await createConnection(
      services,
      actor,
      newConnection.parse({
        type,
        ...(connectionFacts[type].url === undefined && { url: `https://${unique("host")}.example.com` }),
        token,
        api_url: host.apiUrl,
        ...given,
      }),
    );
    /** A pipeline of its repository, with a queue and an agent. */
    const newPipeline = async (provider_settings: GivenSettings = {}, ...steps: object[]) => {
      const queue = await api.newQueue();
      const agents = { queue: queue.key };
      const commands = steps.length > 0 ? steps : [{ command: "make" }];
      const made = await api.newPipeline({
        slug: unique("web"),
        repository: apis[type].repository(connection.host),
        provider_settings,
        steps: commands.map((step) => ("command" in step ? { ...step, agents } : step)),
      });
      const { slug } = made;
      const path = `/pipelines/${slug}/builds`;
      return {
        slug,
        /** Where its host posts events, and their secret. */
        provider: (made as unknown as { provider: { webhook_url: string; secret: string } }).provider,
        context: `${services.config.serviceName}/${slug}`,
        async build(body: object = {}) {
          const {
            status,
            text,
            body: made,
          } = await api.send("POST", path, {
            body: { commit, branch: "main", message: "m", ...body },
          });
          if (status !== 201) throw new Error(`${status} ${text}`);
          return made;
        },
        call: (method: string, below: string, body?: object) =>
          api.send(method, `${path}${below}`, body ? { body } : {}),
        newAgent: () => startAgent(api.world.url, api.agentToken, { meta_data: [`queue=${queue.key}`] }),
      };
    };
    /** The states that the host was told, of a context. */
    const told = (context: string) =>
      host.statuses.filter(({ name }) => name === context).map(({ state }) => state);
    return {
      host,
      connection,
      newPipeline,
      told,
      async close() {
        await deleteConnection(services, actor, connection);
        await host.close();
      },
    };
  };
  /** `rest` sends a request to the REST API. */
  return { ...api, rest: api.send, actor, connect };
}
