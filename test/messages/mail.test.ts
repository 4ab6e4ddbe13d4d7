import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mailOf } from "../../shared/messages/mail.ts";
import { told } from "./told.ts";

const reason = "You get it because you started this build.";

describe("the mail about a build", () => {
  it("says state, pipeline, number and branch in its subject", () => {
    assert.equal(mailOf(told(), { reason }).subject, "Failed: Web #7 (main)");
    assert.equal(mailOf(told({ state: "not_run" }), { reason }).subject, "Not run: Web #7 (main)");
  });

  it("is plain text and HTML, with a link to the build", () => {
    const ways = [{ words: "Change it", url: "https://ci.example.com/mails" }];
    const { text, html } = mailOf(told(), { reason, ways });
    assert.equal(
      text,
      `Web #7 failed
https://ci.example.com/acme/web/builds/7

Branch:    main
Commit:    1234567
Message:   Mend the roof
Author:    Ada
Took:      1 m 5 s
In:        Acme

-- 
${reason}
Change it: https://ci.example.com/mails
`,
    );
    assert.match(html, /<a class="b" href="https:\/\/ci\.example\.com\/acme\/web\/builds\/7">/);
    assert.match(html, /href="https:\/\/ci\.example\.com\/mails"/);
  });

  it("is one line in each place that takes one, and has no markup of names and messages", () => {
    const nasty = "<script>alert(1)</script>\r\nBcc: all@example.com\u2028x\"'&";
    const { subject, text, html } = mailOf(
      told({ pipeline: nasty, branch: nasty, message: nasty, author: nasty, organization: nasty }),
      { reason },
    );
    assert.doesNotMatch(subject, /[\r\n\u2028]/);
    assert.doesNotMatch(text, /^Bcc:/m);
    assert.doesNotMatch(html, /<script>/);
  });
});
