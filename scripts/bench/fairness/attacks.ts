import { pathTo, patterns } from "../../../shared/paths.ts";
import { kilobyte, megabyte } from "../bodies.ts";
import { type Assault, attackingClient, keepCalling, keepSockets, retryMs, stalled } from "./assault.ts";
import {
  authorized,
  type Call,
  type Client,
  openClient,
  openGrant,
  openSignIn,
  postJson,
  refresh,
} from "./client.ts";
import { slowFilter } from "./tenants.ts";

export type Attack = (assault: Assault) => Promise<unknown>;

/** Attacks by one caller on what all share. Each runs until its signal. */
export const attacks = {
  /** Deliveries of 60 KB, each of which takes a filter to its deadline. */
  filters: (assault) => {
    const body = JSON.stringify({ a: "x".repeat(60 * kilobyte) });
    return keepCalling(assault, 2, () => postJson(pathOf(assault.attacker.filteredUrl), body), retryMs);
  },

  /** Bodies that stop, to a known URL and to the sign-in form. */
  bodies: ({ attacker, ...rest }) =>
    Promise.all([
      keepSockets(
        { attacker, ...rest },
        60,
        stalled(pathOf(attacker.deliveryUrl), "application/json", 5 * megabyte),
      ),
      keepSockets(
        { attacker, ...rest },
        400,
        stalled(patterns.signIn, "application/x-www-form-urlencoded", 60 * kilobyte),
      ),
    ]),

  /** Downloads of 4.7 MB that nobody reads. */
  answers: async (assault) => {
    const { attacker } = assault;
    const id = await deliver(assault, largeText());
    const lines = [
      `GET ${attacker.triggerPath}/deliveries/${id}/request HTTP/1.1`,
      "Host: localhost",
      `Authorization: Bearer ${attacker.apiToken}`,
    ];
    await keepSockets(assault, 200, Buffer.from(`${lines.join("\r\n")}\r\n\r\n`.repeat(3)));
  },

  /** Slow filters on 4.7 MB, tested in parallel. */
  tests: async (assault) => {
    const delivery_id = await deliver(assault, largeText());
    const body = JSON.stringify({ expression: slowFilter, delivery_id });
    const call = authorized(assault.attacker, postJson(`${assault.attacker.triggerPath}/filter/test`, body));
    await keepCalling(assault, 30, () => call, retryMs);
  },

  /** Payloads of 4.7 MB that are slow to check. */
  payloads: (assault) => {
    const call = postJson(pathOf(assault.attacker.deliveryUrl), manyKeys());
    return keepCalling(assault, 20, () => call, retryMs);
  },

  /** REST bodies of 1 MB of brackets, and of many members. */
  json: (assault) => {
    const bodies = [
      "[".repeat(megabyte - 1),
      `{"a":${"[".repeat(500_000)}${"]".repeat(500_000)}}`,
      manyKeys().slice(0, -1),
    ];
    const calls = bodies.map(
      (body): Call =>
        authorized(assault.attacker, {
          ...postJson(assault.attacker.clusterPath, body.slice(0, megabyte)),
          method: "PUT",
        }),
    );
    let sent = 0;
    return keepCalling(assault, 20, () => calls[sent++ % calls.length] as Call);
  },

  /** Lists of builds for meta-data that none has: each looks at all. */
  lists: (assault) => {
    const { attacker } = assault;
    const path = `${pathTo(patterns.builds, attacker)}?meta_data[none]=x`;
    return keepCalling(assault, 40, () => authorized(attacker, { method: "GET", path }), retryMs);
  },

  /** Wrong passwords from the networks of an IPv6 /48. */
  passwords: async (assault) => {
    let sent = 0;
    const client = openClient(assault.attacker.url, () => `2001:db8:0:${(sent++ % 65_536).toString(16)}::1`);
    const signIn = await openSignIn(client);
    await keepCalling(assault, 40, () => signIn(`${sent}@example.com`, "not the password"), 0, client);
  },

  /** One token that is refreshed all the time. */
  refreshes: async (assault) => {
    const client = attackingClient(assault.attacker);
    let token = await openGrant(client, assault.attacker);
    const keepNewest: Client = async (call) => {
      const answer = await client(call);
      if (answer.status === 200) token = JSON.parse(answer.text).refresh_token;
      return answer;
    };
    await keepCalling(assault, 20, () => refresh(token), 0, keepNewest);
  },

  /** Event streams of one session. */
  streams: async (assault) => {
    const { org, sessionToken } = assault.attacker;
    const cookie = `signalbox=${sessionToken}`;
    const path = pathTo(patterns.pipelinePage, { org, slug: "web" });
    const page = await attackingClient(assault.attacker)({
      method: "GET",
      path,
      headers: { Cookie: cookie },
    });
    const events = /data-events="([^"]*)"/.exec(page.text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const lines = [`GET ${events} HTTP/1.1`, "Host: localhost", `Cookie: ${cookie}`];
    await keepSockets(assault, 1200, Buffer.from(`${lines.join("\r\n")}\r\n\r\n`));
  },
} satisfies Record<string, Attack>;

export type AttackName = keyof typeof attacks;

function pathOf(url: string): string {
  return new URL(url).pathname;
}

/** Slow to filter, quick to accept. */
function largeText(): string {
  return JSON.stringify({ a: "x".repeat(4.7 * megabyte) });
}

/** 4.7 MB, slow to check. */
function manyKeys(): string {
  const members = Array.from({ length: 330_000 }, (_, index) => `"key${String(index).padStart(6, "0")}":1`);
  return `{${members.join(",")}}`;
}

/** @returns the delivery's id */
async function deliver({ attacker }: Assault, body: string): Promise<string> {
  const answer = await attackingClient(attacker)(postJson(pathOf(attacker.deliveryUrl), body));
  return JSON.parse(answer.text).id;
}
