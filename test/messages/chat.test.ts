import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { boundedMessage, chatBody, escapeChat } from "../../shared/messages/chat.ts";
import { told } from "./told.ts";

const slack = "https://hooks.slack.com/services/T0/B0/secret";
const mattermost = "https://chat.example.com/hooks/secret";

describe("the body for a chat", () => {
  it("is text, and for Slack's own hosts blocks, too", () => {
    const text = [
      ":x: *<https://ci.example.com/acme/web/builds/7|Web #7>* failed",
      "main · 1234567 · Mend the roof · Ada · 1 m 5 s",
    ].join("\n");
    assert.deepEqual(chatBody(mattermost, told()), { text });
    const ofSlack = chatBody(slack, told());
    assert.equal(ofSlack.text, text);
    assert.deepEqual(
      ofSlack.blocks?.map((block) => (block as { type: string }).type),
      ["section", "context"],
    );
    for (const lookalike of ["https://hooks.slack.com.example.com/x", "https://example.com/hooks.slack.com"])
      assert.equal(chatBody(lookalike, told()).blocks, undefined);
  });

  it("has the message of the pipeline above, and a note below", () => {
    const { text } = chatBody(mattermost, told(), { message: "Look at it", note: "No service names #a" });
    assert.deepEqual([text.split("\n")[0], text.split("\n").at(-1)], ["Look at it", "_No service names #a_"]);
  });

  it("has blocks that Slack takes, however long its message and its note are", () => {
    const long = `a${"🔥".repeat(2999)}`;
    const { blocks = [] } = chatBody(slack, told(), { message: long, note: long });
    const texts = JSON.stringify(blocks).match(/"text":"[^"]*"/g) ?? [];
    assert.equal(texts.length, 4);
    for (const text of texts) {
      assert.ok(text.length < 3000 + 20, `${text.length} characters`);
      assert.doesNotMatch(text, /\\ud/, "half a character");
    }
  });

  it("has a text that its chat takes, which loses the end of the message alone", () => {
    const bounds = {
      "https://discord.com/api/webhooks/1/secret/slack": 2000,
      "https://canary.discord.com/api/webhooks/1/secret/slack": 2000,
      "https://discord.com.example.com/hooks/secret": 4000,
      [mattermost]: 4000,
      [slack]: 4000,
    };
    for (const [url, max] of Object.entries(bounds))
      for (const unit of ["🔥", "&", "a🔥"]) {
        const message = unit.repeat(3000);
        const { text } = chatBody(url, told(), { message, note: "No service names #a" });
        const [above = "", ...own] = text.split("\n");
        assert.ok(
          text.length <= max && text.length > max - 20,
          `${unit}: ${text.length} characters at ${url}`,
        );
        assert.match(above, /^(a|🔥|&amp;)+…$/u);
        assert.equal(own.join("\n"), chatBody(url, told(), { note: "No service names #a" }).text);
      }
  });

  it("is cut at its end if its names alone are too long", () => {
    const long = "&".repeat(300);
    const names = told({ branch: long, message: long, author: long });
    const { text } = chatBody("https://discord.com/api/webhooks/1/x/slack", names, {
      message: long,
      note: long,
    });
    assert.ok(text.length <= 2000 && text.endsWith("&amp;…"), text);
  });

  it("tells of a step", () => {
    const step = {
      name: "Lint",
      url: "https://ci.example.com/acme/web/builds/7#1",
      outcome: "soft_failed",
    } as const;
    assert.equal(
      chatBody(mattermost, { ...told(), step }).text.split("\n")[0],
      ":information_source: *<https://ci.example.com/acme/web/builds/7#1|Lint> of <https://ci.example.com/acme/web/builds/7|Web #7>* failed softly",
    );
  });

  it("has no markup of names and messages", () => {
    const { text } = chatBody(
      mattermost,
      told({
        pipeline: "<!channel> | <http://evil.example|Log in>",
        branch: "<!here>&",
        message: "@channel [Log in](http://evil.example)\n<!everyone>",
        author: "<@U024BE7LH>",
      }),
    );
    assert.equal(text.match(/</g)?.length, 1, "the link to the build alone");
    assert.doesNotMatch(text, /@channel|\]\(|<!/);
    assert.match(text, /&lt;!here&gt;&amp;/);
    assert.equal(text.split("\n").length, 2);
  });
});

describe("the message of a pipeline", () => {
  it("may mention persons, groups and channels by their id, and not everybody", () => {
    const ids = "<@U024BE7LH> <!subteam^SAZ94GDB8> <#C0B1SRLV43S>";
    assert.equal(boundedMessage(ids), ids);
    for (const other of [
      "<!channel>",
      "<!here|x>",
      "<!everyone>",
      "<http://a.example|b>",
      "<@U1|x>",
      "<@u1>",
    ])
      assert.doesNotMatch(boundedMessage(other), /</, other);
    assert.doesNotMatch(boundedMessage("@everyone @here"), /@(everyone|here)/);
  });

  it("keeps its lines, and has 3,000 characters at most", () => {
    assert.equal(boundedMessage("a\nb\u0007c\r"), "a\nbc");
    assert.equal([...boundedMessage("é".repeat(5000))].length, 3000);
  });
});

describe("escaping for chats", () => {
  it("leaves plain text alone", () => {
    for (const text of ["a@example.com", "@ada", "a_b*c", "[x] (y)", "#12"])
      assert.equal(escapeChat(text), text);
  });
});
