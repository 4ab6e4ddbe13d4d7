import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, beforeEach, it } from "node:test";
import { findFailing } from "../../shared/notifications/failing.ts";
import { findNotificationService } from "../../shared/notifications/store.ts";
import { openSettling } from "../helpers/builds.ts";
import { describeWorld, type TestDatabase } from "../helpers/databases.ts";
import { openMailServer } from "../mail/mail-server.ts";
import { openNotifications } from "./world.ts";

const open = async (database: TestDatabase) => {
  const mails = await openMailServer();
  const settings = { SMTP_URL: mails.url, MAIL_FROM: "ci@example.com" };
  return { ...(await openNotifications(database, settings)), mails };
};

describeWorld("chats and mails of a notification service", open, (api) => {
  beforeEach(() => api.forget());
  after(async () => {
    await api.end();
    await api.mails.close();
  });

  /** Starts an incoming webhook that takes what chats take, and nothing else. */
  const startChat = async (given: object, settings: object = {}) => {
    const texts: string[] = [];
    const problems: string[] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      try {
        assert.deepEqual([request.method, request.url], ["POST", "/hooks/hunter2"]);
        assert.equal(request.headers["content-type"], "application/json");
        assert.ok(!Object.keys(request.headers).some((name) => name.startsWith("x-")));
        const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
        assert.deepEqual(Object.keys(body), ["text"], "blocks are for Slack's own hosts");
        texts.push(body.text);
      } catch (error) {
        problems.push(String(error));
      }
      response.end("ok");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    api.atEnd(() => server.close());
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/hooks/hunter2`;
    const service = await api.makeService({ provider: "slack", ...given, settings: { url, ...settings } });
    return {
      service,
      take() {
        assert.deepEqual(problems, []);
        return texts.splice(0);
      },
    };
  };

  it("tell of builds that fail, and of the one that passes after it", async () => {
    const { pipeline, queue } = await api.newPipelineWithJob();
    const fixed = await startChat(
      { build_states: { build_failed: true, build_fixed: true } },
      { theme: "emoji" },
    );
    const passed = await startChat({ build_states: { build_passed: true } });
    const told: string[][] = [];
    for (const exitStatus of ["0", "1", "1", "0", "0"]) {
      await api.runBuild(pipeline, queue, exitStatus);
      await api.sent();
      told.push(fixed.take());
    }
    assert.deepEqual(
      told.map((texts) => texts.length),
      [0, 1, 1, 1, 0],
    );
    assert.match(told[1]?.[0] ?? "", /^:x: \*<[^|>]*\/builds\/2\|[^>]* #2>\* failed/);
    assert.match(told[3]?.[0] ?? "", /#4>\* passed/);
    const texts = passed.take();
    assert.equal(texts.length, 3);
    assert.match(texts[0] ?? "", /^\*</, "without a mark");
  });

  it("tell of blocked builds, of the step that is unblocked, and of canceled ones", async () => {
    const pipeline = await api.newPipeline({ steps: [{ type: "block", label: "Deploy <!channel>?" }] });
    const states = { build_blocked: true, job_activated: true, build_canceled: true };
    const chat = await startChat({ build_states: states });
    const { settle, close } = openSettling(api.services);
    api.atEnd(close);
    await api.build(pipeline.id, 2);
    await settle();
    await api.sent();
    const blocked = chat.take();
    assert.equal(blocked.length, 2);
    assert.match(blocked[0] ?? "", /waits for somebody to unblock it/);
    const { items } = await api.read(`/pipelines/${pipeline.slug}/builds/1/jobs`);
    const at = `/pipelines/${pipeline.slug}/builds`;
    await api.send("PUT", `${at}/1/jobs/${items[0].id}/unblock`, { body: {} });
    await api.send("PUT", `${at}/2/cancel`);
    await settle();
    await api.sent();
    const then = chat.take().join("\n\n");
    assert.match(then, /Deploy &lt;!channel&gt;\?/);
    assert.match(then, /was unblocked/);
    assert.match(then, /#2>\* was canceled/);
    assert.doesNotMatch(then, /passed/);
  });

  it("escape what strangers write", async () => {
    const { pipeline } = await api.newPipelineWithJob();
    const chat = await startChat({ build_states: { build_canceled: true } });
    const message = "<!everyone> see <https://evil.example.com|here> & @channel\r\nX-Evil: 1";
    const made = await api.send("POST", `/pipelines/${pipeline.slug}/builds`, {
      body: { commit: "HEAD", branch: "main", message },
    });
    assert.equal(made.status, 201, made.text);
    await api.send("PUT", `/pipelines/${pipeline.slug}/builds/1/cancel`);
    await api.sent();
    const [text = ""] = chat.take();
    assert.match(text, /&lt;!everyone&gt;/);
    assert.doesNotMatch(text, /<!|<https:\/\/evil|@channel|X-Evil/);
  });

  it("go as a mail to each address", async () => {
    const { pipeline } = await api.newPipelineWithJob();
    await api.makeService({
      provider: "email",
      description: "On call",
      build_states: { build_canceled: true },
      settings: { addresses: ["ada@example.com", "bob@example.com"] },
    });
    await api.build(pipeline.id);
    await api.send("PUT", `/pipelines/${pipeline.slug}/builds/1/cancel`);
    await api.sent();
    const sent = api.mails.take();
    assert.deepEqual(sent.flatMap(({ to }) => to).sort(), ["ada@example.com", "bob@example.com"]);
    assert.match(sent[0].parts["text/plain"] ?? "", /was canceled[\s\S]*On call/);
  });

  it("go to the other addresses while the server takes none for one of them", async () => {
    const { pipeline } = await api.newPipelineWithJob();
    const service = await api.makeService({
      provider: "email",
      build_states: { build_canceled: true },
      settings: { addresses: ["busy@example.com", "bob@example.com", "ada@example.com"] },
    });
    await api.build(pipeline.id);
    await api.send("PUT", `/pipelines/${pipeline.slug}/builds/1/cancel`);
    await api.sent();

    const taken = api.mails.take().flatMap(({ to }) => to);
    assert.deepEqual(taken.sort(), ["ada@example.com", "bob@example.com"]);
    const { db } = api.services;
    const row = await findNotificationService(db, api.acme.id, service.id);
    assert.ok(row);
    const failing = await findFailing(db, api.acme.id, row);
    assert.equal(failing?.problem, "The mail server answered 451 to RCPT TO");
  });

  it("keep addresses out of rows and logs", async () => {
    const { db } = api.services;
    const rows = await db.select().from(db.tables.outbox);
    assert.ok(rows.length > 0);
    assert.doesNotMatch(JSON.stringify(rows), /hunter2/);
    assert.ok(api.logged.every((line) => !line.includes("hunter2")));
  });
});
