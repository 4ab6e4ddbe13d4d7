import { setTimeout as sleep } from "node:timers/promises";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { visitor } from "../../../test/helpers/visitor.ts";
import { heartbeat, ping, register, runJob } from "../agents/agent.ts";
import { kilobyte, pushPayload } from "../bodies.ts";
import { type Answer, type Client, openClient, postForm, postJson } from "../fairness/client.ts";
import { clientId, organization, type Soaked } from "./installation.ts";
import { keepPace } from "./pace.ts";

export interface Traffic {
  /** Webhooks that were answered 201. */
  deliveries: number;
  signIns: number;
  jobs: number;
  /** Answers that no caller should get, by kind. */
  unexpected: Record<string, number>;
}

const networks = 200;
const connections = 50;
const codesPerSecond = 1;
/** Every fourth code is left to expire. */
const abandoned = 4;
/** Every tenth payload is large. */
const largeEvery = 10;
const payloads = { small: pushPayload(kilobyte), large: pushPayload(20 * kilobyte) };
const agents = 10;
const pingMs = 1000;
const heartbeatMs = 30_000;
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

/** Sends webhooks and signs devices in, at steady rates. */
export async function sendTraffic(
  soaked: Soaked,
  traffic: Traffic,
  { perSecond, seconds }: { perSecond: number; seconds: number },
): Promise<void> {
  const endsAt = performance.now() + seconds * 1000;
  let calls = 0;
  const client = openClient(soaked.url, () => `203.0.113.${calls++ % networks}`, connections);
  const post = async (number: number) => {
    const body = number % largeEvery === 0 ? payloads.large : payloads.small;
    await expectAnswer(client(postJson(soaked.deliveryPath, body)), 201);
    traffic.deliveries++;
  };
  const isOver = () => performance.now() > endsAt;
  await Promise.all([
    keepPace(perSecond, seconds, (number) => counted(traffic, post(number))),
    keepPace(codesPerSecond, seconds, (number) =>
      counted(traffic, signIn(soaked, { client, traffic, isOver, isAbandoned: number % abandoned === 0 })),
    ),
  ]);
}

interface SignIn {
  client: Client;
  traffic: Traffic;
  isOver: () => boolean;
  isAbandoned: boolean;
}

async function signIn(soaked: Soaked, { client, traffic, isOver, isAbandoned }: SignIn): Promise<void> {
  const scope = "read_builds";
  const code = postForm(patterns.deviceAuthorization, { client_id: clientId, scope });
  const { device_code, user_code, interval } = JSON.parse((await expectAnswer(client(code), 200)).text);
  const poll = async (status: number) => {
    await sleep((interval + 0.5) * 1000);
    const form = { grant_type: deviceGrant, client_id: clientId, device_code };
    return isOver() ? undefined : expectAnswer(client(postForm(patterns.token, form)), status);
  };
  await poll(400);
  if (isAbandoned || isOver()) return;
  await approve(soaked, user_code);
  const answer = await poll(200);
  if (!answer) return;
  const headers = { Authorization: `Bearer ${JSON.parse(answer.text).access_token}` };
  const path = `${pathTo(patterns.builds, { org: organization })}?per_page=5`;
  await expectAnswer(client({ method: "GET", path, headers }), 200);
  traffic.signIns++;
}

/** At the pages, as a person does. */
async function approve({ url, cookie, organizationId }: Soaked, userCode: string): Promise<void> {
  const person = visitor(url, cookie);
  await expectAnswer(person.post(patterns.enterCode, { user_code: userCode }), 303);
  const form = { organization: organizationId, decision: "authorize" };
  await expectAnswer(person.post(pathTo(patterns.reviewDevice, { code: userCode }), form), 303);
}

/** Agents that take jobs until the signal. */
export async function runAgents(soaked: Soaked, traffic: Traffic, signal: AbortSignal): Promise<void> {
  const serve = async (index: number) => {
    const session = await register(soaked.url, soaked.agentToken, index);
    for (let beatAt = performance.now(); !signal.aborted; ) {
      const id = await ping(session);
      if (id !== undefined) {
        await runJob(session, id);
        traffic.jobs++;
      } else await sleep(pingMs * (1 + Math.random()));
      if (performance.now() - beatAt < heartbeatMs) continue;
      beatAt = performance.now();
      await heartbeat(session);
    }
    session.connection.close();
  };
  const keepServing = async (index: number) => {
    while (!signal.aborted) {
      await counted(traffic, serve(index));
      await sleep(pingMs);
    }
  };
  await Promise.all(Array.from({ length: agents }, (_, index) => keepServing(index)));
}

async function expectAnswer<T extends Pick<Answer, "status" | "text">>(
  answering: Promise<T>,
  status: number,
): Promise<T> {
  const answer = await answering;
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}`);
  return answer;
}

async function counted({ unexpected }: Traffic, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const kind = code ?? message;
    unexpected[kind] = (unexpected[kind] ?? 0) + 1;
  }
}
