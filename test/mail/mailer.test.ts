import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openMailer } from "../../shared/mail/mailer.ts";
import { type MailServer, openMailServer } from "./mail-server.ts";

describe("mail by SMTP", () => {
  let server: MailServer;

  before(async () => {
    server = await openMailServer();
  });
  after(() => server.close());

  const mailerFor = (smtpUrl: string) => {
    const mailer = openMailer({ smtpUrl, mailFrom: "Signalbox <ci@example.com>" });
    assert.ok(mailer);
    return mailer;
  };
  const mail = {
    to: "ada@example.com",
    subject: "Failed: Web #7 (main)",
    text: "It failed.\n",
    html: "<p>It failed.</p>",
  };

  it("is off without SMTP_URL", () => {
    assert.equal(openMailer({ smtpUrl: undefined, mailFrom: "ci@example.com" }), undefined);
  });

  it("arrives with plain text, HTML and a way to end it", async () => {
    const unsubscribeUrl = `https://ci.example.com/unsubscribe/${"x".repeat(133)}`;
    await mailerFor(server.url).send({ ...mail, unsubscribeUrl, id: "abc" });

    const [{ from, to, headers, parts }] = server.take();
    assert.deepEqual([from, to], ["ci@example.com", ["ada@example.com"]]);
    assert.equal(headers.from, "Signalbox <ci@example.com>");
    assert.equal(headers.to, "ada@example.com");
    assert.equal(headers.subject, mail.subject);
    assert.equal(headers["list-unsubscribe"], `<${unsubscribeUrl}>`);
    assert.equal(headers["list-unsubscribe-post"], "List-Unsubscribe=One-Click");
    assert.equal(headers["message-id"], "<abc@example.com>");
    assert.equal(headers["auto-submitted"], "auto-generated");
    assert.deepEqual(parts, { "text/plain": "It failed.\n", "text/html": "<p>It failed.</p>" });
  });

  it("has one line of each header, whatever the texts", async () => {
    const nasty = "a\r\nBcc: eve@example.com\r\n\r\nb\0\u2028ü";
    await mailerFor(server.url).send({ ...mail, subject: nasty, id: nasty });

    const [{ to, headers, raw }] = server.take();
    assert.deepEqual(to, ["ada@example.com"]);
    assert.equal(headers.bcc, undefined);
    assert.equal(headers.subject, "a Bcc: eve@example.com b ü");
    assert.doesNotMatch(raw, /^bcc:/im);
  });

  it("goes to one address, whatever it contains", async () => {
    for (const to of [
      "ada@example.com, eve@example.com",
      "Eve <eve@example.com>",
      "ada@example.com\r\nRCPT TO:<eve@example.com>",
    ]) {
      await mailerFor(server.url)
        .send({ ...mail, to })
        .catch(() => {});
      for (const { to } of server.take()) assert.ok(!to.includes("eve@example.com"), to.join());
    }
  });

  it("reads neither files nor addresses that a text names", async () => {
    await mailerFor(server.url)
      .send({ ...mail, text: { path: "/etc/passwd" } as never })
      .catch(() => {});
    for (const { raw } of server.take()) assert.doesNotMatch(raw, /root:/);
  });

  it("says what is final: a refused address, and not a busy server, a wrong password or no server", async () => {
    const refusal = async (url: string, to = mail.to) =>
      mailerFor(url)
        .send({ ...mail, to })
        .then(
          () => undefined,
          ({ message, isFinal }) => [message, isFinal],
        );
    assert.deepEqual(await refusal(server.url, "unknown@example.com"), [
      "The mail server answered 550 to RCPT TO",
      true,
    ]);
    assert.deepEqual(await refusal(server.url, "busy@example.com"), [
      "The mail server answered 451 to RCPT TO",
      false,
    ]);
    assert.deepEqual(await refusal(server.url.replace("//", "//ada:wrong@")), [
      "The mail server refused the user or password of SMTP_URL",
      false,
    ]);
    const [message, isFinal] = (await refusal("smtp://127.0.0.1:9")) as [string, boolean];
    assert.match(message, /^The mail server could not be reached \(\w+\)$/);
    assert.equal(isFinal, false);
  });

  it("speaks TLS if the server can, and signs in", async () => {
    await mailerFor(server.url.replace("//", "//ada:hunter2@")).send(mail);
    const [{ isSecure, user }] = server.take();
    assert.deepEqual([isSecure, user], [true, "ada"]);
    const strict = server.url.replace(/\?.*/, "");
    await assert.rejects(
      mailerFor(strict).send(mail),
      /^MailProblem: The certificate of the mail server is not trusted$/,
    );
  });
});
