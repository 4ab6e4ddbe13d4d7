import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { setServiceEnabled } from "../../shared/notifications/notification-services.ts";
import { openOutbox } from "../../shared/outbox/outbox.ts";
import { putMessages } from "../../shared/outbox/put.ts";
import type { Services } from "../../shared/services/services.ts";
import { messageKinds } from "../../workers/message-kinds.ts";
import { describeWorld } from "../helpers/databases.ts";
import { addPerson } from "../helpers/organization.ts";
import { openReceiver, type StandIn } from "../outbox/receiver.ts";
import { openNotices } from "./open-notices.ts";

const minute = 60_000;

describeWorld("mails about what fails to send", openNotices, (world) => {
  let receiver: StandIn;
  let slug: string;
  let admins: string[];
  const mails = () => (world.mail.count() === 0 ? [] : world.mail.take());
  const send = async (more: Partial<Services> = {}) => {
    await world.settle();
    const outbox = openOutbox({ ...world.services, ...more }, messageKinds);
    outbox.wake();
    await outbox.idle();
    await outbox.close();
  };
  /** Moves the clock, and sends what is due in between. @returns who got mail with which subject */
  const pass = async (minutes: number, step = 5, more: Partial<Services> = {}): Promise<string[]> => {
    const got: string[] = [];
    for (let left = minutes; left > 0; left -= step) {
      world.api.world.clock.advance(step * minute);
      await send(more);
      got.push(...mails().map(({ to, headers }) => `${to}: ${headers.subject}`));
    }
    return got;
  };
  const tellChat = async () => {
    await world.report(slug);
    await world.run(1);
    await send();
    mails();
  };

  before(async () => {
    receiver = await openReceiver();
    const second = await addPerson(world.api.world, world.api.acme, "admin");
    await addPerson(world.api.world, world.api.acme, "member");
    admins = [world.api.admin.email, second.email].sort();
    slug = await world.newPipeline([], {
      steps: undefined,
      configuration: JSON.stringify({ notify: [{ slack: "#ops" }], steps: [{ command: "make" }] }),
    });
  });
  beforeEach(async () => {
    receiver.behave(200);
    await pass(180, 60);
    await world.removeChats();
  });
  after(() => receiver.close());

  it("go to each admin once, after an hour, with the problem and the page of the service", async () => {
    const id = await world.addChat("Ops", "#ops", { url: `${receiver.url}/secret` });
    receiver.behave(503);
    await tellChat();
    assert.deepEqual(await pass(55), []);

    const got = await pass(60);
    const subject = "Failing: notification service “Ops” (acme)";
    assert.deepEqual(
      got.sort(),
      admins.map((email) => `${email}: ${subject}`),
    );
    await tellChat();
    assert.deepEqual(await pass(300, 60), [], "once");

    receiver.behave(200);
    await pass(120, 60);
    receiver.behave(503);
    await tellChat();
    world.api.world.clock.advance(minute);
    await send();
    world.api.world.clock.advance(100 * minute);
    await send();
    const [mail, ...others] = mails();
    assert.equal(others.length, admins.length - 1, "it is another failure");
    const text = mail?.parts["text/plain"] ?? "";
    assert.match(text, /^The notification service “Ops” fails$/m);
    assert.match(text, /^Problem: {3}It answered 503$/m);
    assert.match(text, /^Compare its address and its token/m);
    assert.match(text, /because you are an admin of acme/);
    const page = `${world.api.world.config.appUrl}/organizations/acme/services/${id}`;
    assert.ok(text.includes(page) && mail?.parts["text/html"]?.includes(`href="${page}"`));
    assert.doesNotMatch(mail?.raw ?? "", /secret/);
  });

  it("come of refused messages too, though others go on", async () => {
    await world.addChat("Ops", "#ops", { url: receiver.url });
    receiver.behave(404);
    await tellChat();
    assert.equal((await pass(120, 20)).length, admins.length);
  });

  it("do not come of one message that is refused, while the others are taken", async () => {
    await world.addChat("Ops", "#ops", { url: receiver.url });
    receiver.behave(404);
    await tellChat();
    receiver.behave(200);
    await tellChat();
    receiver.behave(404);
    assert.deepEqual(await pass(180, 20), []);
  });

  it("do not come while it is switched off, nor without a mail server", async () => {
    const id = await world.addChat("Ops", "#ops", { url: receiver.url });
    receiver.behave(503);
    await tellChat();
    assert.deepEqual(await pass(120, 20, { mailer: undefined }), []);
    const actor = { organization: world.api.acme, userId: world.api.admin.id };
    await setServiceEnabled(world.services, actor, { id }, false);
    assert.deepEqual(await pass(120, 20), []);
  });

  it("come once of a connection whose token is refused, whatever pipelines it has", async () => {
    const { body: connection } = await world.api.send("POST", "/repository_connections", {
      body: { type: "gitea", url: receiver.url, token: "revoked" },
    });
    const receivers = ["a", "b", "c"].map((pipeline) => `connection:${connection.id}:${pipeline}`);
    receiver.behave(401);
    const messages = receivers.map((each) => ({
      kind: "notify" as const,
      receiver: each,
      connectionId: connection.id as string,
      event: "build.finished",
    }));
    await world.services.db.transaction((tx) => putMessages(tx, world.api.acme.id, messages));
    const notify = {
      messagesOf: async () => [],
      prepare: async () => ({ request: { method: "POST", url: receiver.url } as const }),
      judge: () => ({ outcome: "receiver_rests", problem: "The host answered 401" }) as const,
    };
    const got: string[] = [];
    for (let hours = 0; hours < 5; hours++) {
      const outbox = openOutbox(world.services, { ...messageKinds, notify });
      outbox.wake();
      await outbox.idle();
      await outbox.close();
      world.api.world.clock.advance(61 * minute);
      got.push(...mails().map(({ to, headers }) => `${to}: ${headers.subject}`));
    }
    const { hostname } = new URL(receiver.url);
    const subject = `Failing: repository connection ${hostname} (acme)`;
    assert.deepEqual(
      got.sort(),
      admins.map((email) => `${email}: ${subject}`),
    );
  });
});
