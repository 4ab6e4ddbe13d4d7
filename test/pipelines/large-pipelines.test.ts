import assert from "node:assert/strict";
import { it } from "node:test";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import type { Step } from "../../shared/vocabulary.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { openAcme } from "../helpers/organization.ts";
import { sendRaw } from "../helpers/sockets.ts";

const kilobyte = 1024;
/** A piece has 65,536 halves of characters of four bytes, and one half more if it would cut a character. */
const maxBytesOfPiece = 2 * 64 * kilobyte + 4;
interface Answered {
  slug: string;
  steps: { command: string; note?: string }[];
}

describeWorldOn(sqlite, "a pipeline of a megabyte", openAcme, (world) => {
  /** Returns the chunks of the answer's body: each turn of the event loop writes one. */
  const read = async (path: string): Promise<Buffer[]> => {
    const token = await world.acme.token("read_pipelines");
    const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const { socket } = await sendRaw(world.url, head);
    const bytes = Buffer.concat(await socket.toArray());
    return chunksOf(bytes.subarray(bytes.indexOf("\r\n\r\n") + 4));
  };

  const create = (slug: string, step: (index: number) => Step) => {
    const steps = Array.from({ length: 100 }, (_, index) => step(index));
    const { operator, cluster } = world.acme;
    return createPipeline(world.services, operator, { clusterId: cluster.id, slug, name: slug, steps });
  };

  for (const [kind, others] of [
    ["as it is stored", {}],
    ["written anew", { others: { note: "n" } }],
  ] as const)
    it(`is sent in turns with little of it, ${kind}`, async () => {
      const slug = kind.replaceAll(" ", "-");
      // Odd lengths: characters of two halves are where pieces are cut.
      const command = (index: number) => `${"\u{1f600}".repeat(2500)}${"x".repeat(index % 2)}`;
      await create(slug, (index) => ({ command: command(index), ...others }));
      const path = `/v2/organizations/acme/pipelines`;

      for (const address of [`${path}?per_page=100`, `${path}/${slug}`]) {
        const chunks = await read(address);
        const all: Answered[] = [JSON.parse(Buffer.concat(chunks).toString())].flat();
        const steps = all.find((pipeline) => pipeline.slug === slug)?.steps;

        assert.ok(Math.max(...chunks.map(({ length }) => length)) <= maxBytesOfPiece);
        const note = "others" in others ? others.others : {};
        assert.deepEqual(
          steps?.map(({ command, ...rest }) => [command, "note" in rest ? { note: rest.note } : {}]),
          Array.from({ length: 100 }, (_, index) => [command(index), note]),
        );
      }
    });
});

function chunksOf(body: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf("\r\n", at);
    const length = Number.parseInt(body.toString("latin1", at, lineEnd), 16);
    if (!(length > 0)) return chunks;
    chunks.push(body.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}
