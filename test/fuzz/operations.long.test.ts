import assert from "node:assert/strict";
import { before, it } from "node:test";
import fc from "fast-check";
import { describeWorld } from "../helpers/databases.ts";
import { setUpClient, startDevice, type TestClient } from "../helpers/device.ts";
import { get } from "../helpers/http.ts";
import { assertHonest } from "./answers.ts";
import { fuzz, partOn } from "./fuzz.ts";
import { type Installation, startInstallation } from "./installation.ts";
import { type Document, knownWords, type Operation, operationsOf } from "./operations.ts";
import { type Input, requestsOf } from "./requests.ts";
import { describeExchange, type Response, send } from "./send.ts";
import { toDelete } from "./targets.ts";

/** Closed by the server's parser, which cannot know a HEAD, or while a refused body is still on its way. */
const closedEarly = /ECONNRESET|EPIPE|socket hang up|Parse Error: Data after/;

describeWorld("any request to any operation", startInstallation, (installation, database) => {
  let document: Document;
  let operations: Operation[];

  before(async () => {
    document = (await get(`${installation.url}/openapi.json`)).body;
    operations = operationsOf(document);
  });

  it("gets an honest answer in the documented shape", async (context) => {
    const names = { schemas: document.components.schemas, known: await knownValues(installation) };
    const input = fc.oneof(...operations.map((operation) => requestsOf(operation, names, installation)));
    const statuses: Record<string, number> = {};
    const created: Created = {};

    await fuzz(context, { share: 0.75 * partOn(database), input }, async (each) => {
      const answer = await exchange(installation.url, each, created);
      if (!answer) return;
      const key = String(answer.status);
      statuses[key] = (statuses[key] ?? 0) + 1;
      try {
        assertHonest(answer, shapeOf(each));
        assertAllowed(each, answer);
      } catch (error) {
        throw new Error(
          `${error instanceof Error ? error.message : error}\n${describeExchange(each.request, answer)}`,
        );
      }
    });

    context.diagnostic(`answers by status: ${JSON.stringify(statuses)}`);
    await installation.assertSound();
  });
});

async function knownValues({ world, own, foreign, url }: Installation): Promise<Record<string, string[]>> {
  const ids = (name: keyof typeof own.ids) => [own.ids[name], foreign.ids[name]];
  const client = await setUpClient(world, { clientId: "cli", refreshTokens: true });
  const secret = await setUpClient(world, { clientId: "server", confidential: true });
  const devices = await Promise.all(
    [client, client, secret].map((each: TestClient) => startDevice({ url }, each)),
  );
  return {
    ...knownWords,
    cluster_id: [...ids("cluster"), own.ids.cluster.toUpperCase()],
    default_queue_id: [...ids("queue"), ...ids("hosted")],
    delivery_id: ids("delivery"),
    queue: ["default", "hosted", "none"],
    organization: ["acme", "globex", "none"],
    organization_uuid: [own.organization.id, foreign.organization.id],
    client_id: ["cli", "server", "none"],
    client_secret: [secret.secret, ""],
    device_code: devices.map(({ deviceCode }) => deviceCode),
    token: [own.readerToken, foreign.readerToken],
  };
}

/** Undefined if the server closed the connection of a request that it may refuse so. */
async function exchange(url: string, input: Input, created: Created): Promise<Response | undefined> {
  const { request, isPlain, operation } = input;
  try {
    const name = /\{(\w+)\}$/.exec(operation.path)?.[1] ?? "";
    const id = request.target.includes(toDelete) ? created[name]?.pop() : undefined;
    const answer = await send(url, { ...request, target: request.target.replace(toDelete, id ?? toDelete) });
    if (answer.status === 201) keepCreated(created, operation.id, answer);
    return answer;
  } catch (error) {
    if (!isPlain && closedEarly.test(String(error))) return undefined;
    throw new Error(`${error}\n${describeExchange(request)}`);
  }
}

/** Ids of created resources, by parameter of a path. */
type Created = Record<string, string[]>;

function keepCreated(created: Created, operationId: string, answer: Response): void {
  const name = {
    createCluster: "cluster",
    createQueue: "queue",
    createPipeline: "slug",
    createTrigger: "trigger",
  }[operationId];
  if (!name) return;
  created[name] ??= [];
  created[name].push(JSON.parse(answer.text)[name === "slug" ? "slug" : "id"]);
}

function shapeOf({ operation: { path }, isPlain }: Input) {
  if (!isPlain) return "any";
  return path.startsWith("/oauth/") ? "oauth" : "json";
}

/** Asserts who may do what, and which statuses are documented. */
function assertAllowed({ caller, operation, request, isPlain, parameters }: Input, answer: Response): void {
  const { status } = answer;
  const isRest = operation.path.startsWith("/v2/");
  // `/v2/user/..` is the root, which is public.
  const isRoot = answer.text.startsWith('{"message":"This is the Signalbox REST API."');
  const isRead = ["GET", "HEAD", "OPTIONS"].includes(request.method);
  if (isRest && !isRoot && status < 300 && request.method !== "OPTIONS") {
    assert.ok(caller.name !== "nobody" && caller.name !== "stranger", "needs a token");
    assert.ok(isRead || caller.name === "admin", "needs a scope");
  }
  if (isPlain && parameters.org === "globex") assert.notEqual(Math.floor(status / 100), 2, "another tenant");
  if (isPlain && operation.statuses)
    assert.ok(
      operation.statuses.includes(status),
      `${operation.id} documents ${operation.statuses}, not ${status}`,
    );
}
