import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, it } from "node:test";
import { findPayload, findPayloadStart } from "../../../shared/triggers/payloads/store.ts";
import { describeWorldOn, sqlite } from "../../helpers/databases.ts";
import { post } from "../../helpers/http.ts";
import { setUpOrganization, type TestOrganization } from "../../helpers/organization.ts";
import { startWorld } from "../../helpers/world.ts";

const megabyte = 1024 * 1024;

describeWorldOn(sqlite, "the start of a payload", startWorld, (world) => {
  let path: string;

  before(async () => {
    const acme: TestOrganization = await setUpOrganization(world);
    ({ path } = await acme.trigger());
  });

  const payloads: [title: string, text: string][] = [
    ["shorter than wanted", '{"a":"é"}'],
    ["stored as it came", JSON.stringify(randomBytes(1500).toString("base64"))],
    ["compressed a little", JSON.stringify(randomBytes(megabyte).toString("base64"))],
    ["compressed very much", JSON.stringify("x".repeat(4 * megabyte))],
    ["of characters of three bytes", JSON.stringify("€".repeat(10_000))],
  ];
  for (const [title, text] of payloads)
    it(`is read from one ${title}`, async () => {
      const { id } = (await post(world.url + path, text)).body;
      const whole = await findPayload(world.services.db, id);
      const size = Buffer.byteLength(text);

      for (const maxBytes of [size, 1000, 1001, 1002]) {
        const start = await findPayloadStart(world.services.db, id, maxBytes);
        assert.ok(start);
        assert.deepEqual(start.headers, whole?.headers);
        assert.equal(start.isWhole, size <= maxBytes);
        assert.ok(text.startsWith(start.text), start.text.slice(-10));
        const bytes = Buffer.byteLength(start.text);
        assert.ok(bytes <= maxBytes && bytes > Math.min(size, maxBytes) - 3, `${bytes} of ${maxBytes} bytes`);
      }
    });
});
