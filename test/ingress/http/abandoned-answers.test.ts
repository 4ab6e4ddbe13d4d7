import assert from "node:assert/strict";
import { before, it } from "node:test";
import { createPipeline } from "../../../shared/pipelines/pipelines.ts";
import { resources } from "../../../shared/sharing/bounds.ts";
import { longReads } from "../../../shared/sharing/resources.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { eventually, get } from "../../helpers/http.ts";
import { openAcme, setUpOrganization } from "../../helpers/organization.ts";
import { sendRaw } from "../../helpers/sockets.ts";

const path = "/v2/organizations/acme/pipelines";

const kinds: [kind: string, address: string][] = [
  ["a list that is to be measured", path],
  ["a large pipeline", `${path}/large`],
];

describeWorldOn(sqlite, "answers that wait for a turn of their organization", openAcme, (world) => {
  let token: string;
  before(async () => {
    token = await world.acme.token("read_pipelines");
    const steps = Array.from({ length: 40 }, () => ({ command: "x".repeat(10_000) }));
    const input = { clusterId: world.acme.cluster.id, slug: "large", name: "Large", steps };
    await createPipeline(world.services, world.acme.operator, input);
  });

  const countClosed = () => world.logged.filter((line) => line.includes('"status":499')).length;

  for (const [kind, address] of kinds)
    it(`leave their slot once their caller has left: ${kind}`, async () => {
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      const before = countClosed();
      const slots = Array.from({ length: resources.longReads.max }, () =>
        longReads.take(world.acme.id, () => over),
      );
      const head = `GET ${address} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
      const sent = await Promise.all(Array.from({ length: 5 }, () => sendRaw(world.url, head)));
      await get(`${world.url}/readyz`); // the others have come before
      for (const { socket } of sent) socket.destroy();

      await eventually("the callers have left", async () => countClosed() - before === 5);
      end();
      await Promise.all(slots);

      assert.equal((await get(world.url + address, token)).status, 200);
      assert.deepEqual(
        world.logged.filter((line) => line.includes("unexpected error")),
        [],
      );
    });

  it("are no short lists: a download that stalls does not delay them", async () => {
    const other = await setUpOrganization(world, "other");
    const input = { clusterId: other.cluster.id, slug: "second", name: "Second", steps: [{ command: "x" }] };
    await createPipeline(world.services, other.operator, input);
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const turn = longReads.take(other.id, () => over);

    const address = `${world.url}/v2/organizations/other/pipelines`;
    const list = get(address, await other.token("read_pipelines"));
    const { body } = await list; // while the turn lasts
    end();
    await turn;

    assert.equal(body.length, 2);
  });
});
