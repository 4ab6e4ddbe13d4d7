import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { agentTokenOf, startAgent } from "../../helpers/agent.ts";
import { sqlite } from "../../helpers/databases.ts";
import { eventually, post } from "../../helpers/http.ts";
import { setUpOrganization } from "../../helpers/organization.ts";
import { startWorld, type World } from "../../helpers/world.ts";

interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
}

describe("with OTEL_EXPORTER_OTLP_ENDPOINT", () => {
  const received: ReceivedSpan[] = [];
  const services: unknown[] = [];
  let receiver: Server;
  let world: World;

  before(async () => {
    receiver = createServer(async (request, response) => {
      // biome-ignore lint/suspicious/noExplicitAny: of the protocol
      const body = (await json(request)) as any;
      for (const { resource, scopeSpans } of body.resourceSpans) {
        services.push(...resource.attributes);
        for (const { spans } of scopeSpans) received.push(...spans);
      }
      response.setHeader("Content-Type", "application/json").end("{}");
    });
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const { port } = receiver.address() as AddressInfo;
    world = await startWorld(sqlite, { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/` });
  });
  after(async () => {
    await world?.close();
    receiver.close();
    receiver.closeAllConnections();
  });

  it("a delivery's way is one trace: accept, decide, build, job offered, job finished", async () => {
    const acme = await setUpOrganization(world);
    await world.startWorkers();
    const { path } = await acme.trigger();
    const { body } = await post(world.url + path, "{}");
    const agent = await startAgent(world.url, await agentTokenOf(world, acme.cluster));
    await eventually("a job that has run", () => agent.runOne());

    const traceId = body.id.replaceAll("-", "");
    const names = ["accept", "decide", "build", "job offered", "job finished"];
    const spans = await eventually("all spans", async () => {
      const own = received.filter((span) => span.traceId === traceId);
      return own.length >= names.length && own;
    });

    assert.deepEqual(spans.map(({ name }) => name).sort(), [...names].sort());
    const chain = names.map((name) => spans.find((span) => span.name === name));
    assert.deepEqual(
      chain.map((span) => span?.parentSpanId || undefined),
      [undefined, ...chain.slice(0, -1).map((span) => span?.spanId)],
    );
    const attributes = services as { key: string; value: { stringValue: string } }[];
    assert.ok(
      attributes.some(({ key, value }) => key === "service.name" && value.stringValue === "signalbox"),
    );
  });
});

it("without it nothing is traced", async () => {
  const world = await startWorld(sqlite);
  const { tracing } = world.services;
  await world.close();
  assert.equal(tracing, undefined);
});
