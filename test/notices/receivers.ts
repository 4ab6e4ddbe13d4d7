import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

// Receivers of notices. They take what their published descriptions take, and refuse the rest with 400.

const json = { "content-type": z.literal("application/json") };
const uuid = z.uuid();

const kinds = {
  /** Incoming webhooks of chats: text, and for Slack blocks. */
  chat: {
    headers: z.looseObject(json),
    body: z.strictObject({ text: z.string().min(1) }),
    status: 200,
  },
  /** Chat bots of Basecamp. */
  campfire: {
    headers: z.looseObject(json),
    body: z.strictObject({ content: z.string().min(1) }),
    status: 201,
  },
  /** Outgoing webhooks of builds. */
  webhook: {
    headers: z.looseObject({
      ...json,
      "x-buildkite-event": z.enum(["build.scheduled", "build.running", "build.finished"]),
      "x-buildkite-request": uuid,
    }),
    body: z.strictObject({
      event: z.string(),
      build: z
        .looseObject({ id: uuid, number: z.int(), state: z.string(), blocked: z.boolean() })
        .refine((build) => !("jobs" in build)),
      pipeline: z.looseObject({ id: uuid, slug: z.string() }),
      sender: z.strictObject({ id: uuid, name: z.string() }),
    }),
    status: 200,
  },
} as const;

export interface Received {
  path: string;
  headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: the schema of the kind has checked it
  body: any;
}

export type Receivers = Awaited<ReturnType<typeof openReceivers>>;

/** Opens receivers of all kinds on this machine: `/<kind>/<name>`. */
export async function openReceivers() {
  let received: Received[] = [];
  const refused: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const path = (request.url ?? "").slice(1);
    const kind = Object.entries(kinds).find(([name]) => path.startsWith(name))?.[1];
    const headers = kind?.headers.safeParse(request.headers);
    const body = kind?.body.safeParse(JSON.parse(Buffer.concat(chunks).toString() || "null"));
    if (request.method !== "POST" || !kind || !headers?.success || !body?.success) {
      refused.push(`${request.method} ${path}: ${headers?.error ?? ""} ${body?.error ?? ""}`);
      response.writeHead(400).end();
      return;
    }
    received.push({ path, headers: headers.data, body: body.data });
    response.writeHead(kind.status).end("ok");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Requests since the last call. */
    take(): Received[] {
      const taken = received;
      received = [];
      if (refused.length > 0) throw new Error(refused.splice(0).join("\n"));
      return taken;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
