import assert from "node:assert/strict";
import { it } from "node:test";
import { hourMs, minuteMs } from "../../shared/durations.ts";
import { mailWaitMs } from "../../shared/mail/limit.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { startWorld } from "../helpers/world.ts";

const open = (database: Parameters<typeof startWorld>[0]) => startWorld(database, { MAILS_PER_HOUR: "20" });

describeWorldOn(sqlite, "the mails of an hour", open, (world) => {
  const takes = { takes: true };
  const peeks = { takes: false };

  it("are limited for each address, and for the organization", async () => {
    const mail = { organizationId: "a", to: "Ada@example.com" };
    for (const to of [mail.to, mail.to.toLowerCase()])
      assert.equal(await mailWaitMs(world.services, { ...mail, to }, takes), 0);
    for (const how of [peeks, takes]) {
      const waitMs = await mailWaitMs(world.services, mail, how);
      assert.ok(waitMs > 0 && waitMs <= hourMs + minuteMs, `${waitMs}`);
    }
    assert.equal(await mailWaitMs(world.services, { ...mail, to: "bob@example.com" }, peeks), 0);
    for (let index = 0; index < 18; index++)
      assert.equal(
        await mailWaitMs(world.services, { ...mail, to: `p${index}@example.com` }, takes),
        0,
        `${index}`,
      );
    assert.ok((await mailWaitMs(world.services, { ...mail, to: "last@example.com" }, peeks)) > 0);
    assert.equal(
      await mailWaitMs(world.services, { ...mail, organizationId: "b", to: "last@example.com" }, takes),
      0,
    );
  });
});
