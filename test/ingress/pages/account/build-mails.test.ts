import assert from "node:assert/strict";
import { it } from "node:test";
import { findBuildMails } from "../../../../shared/accounts/member-store.ts";
import { findUser } from "../../../../shared/accounts/user-store.ts";
import { describeWorld, withSettings } from "../../../helpers/databases.ts";
import { startQueuePages } from "../../../helpers/pages.ts";

const path = "/organizations/acme/mails";

describeWorld("the page of mails about builds", startQueuePages, (pages) => {
  const db = () => pages.services.db;
  const chosenBy = async (email: string) => {
    const user = await findUser(db(), email);
    return findBuildMails(db(), pages.acme.id, user?.id ?? "");
  };

  it("lets each member choose for themselves", async () => {
    const { text } = await pages.asBob.get(path);
    assert.match(text, /<option value="failed" selected>when they fail<\/option>/);
    assert.match(text, /They go to bob@acme\.example\.com/);
    assert.match(
      text,
      /<p class="notice neutral">This installation sends no mail\. The operator sets <code>SMTP_URL<\/code>/,
    );

    for (const choice of ["none", "all"] as const) {
      const answer = await pages.asBob.post(path, { build_mails: choice });
      assert.equal(answer.headers.get("location"), `${path}?notice=build_mails_saved`);
      assert.equal(await chosenBy("bob@acme.example.com"), choice);
      assert.equal(await chosenBy("ada@acme.example.com"), "failed");
    }
    assert.match((await pages.asBob.get(path)).text, /<option value="all" selected>/);
  });

  it("refuses another choice, and members of others", async () => {
    const { text } = await pages.asAda.post(path, { build_mails: "some" });
    assert.match(text, /Mails must be one of failed, all, none/);
    assert.equal(await chosenBy("ada@acme.example.com"), "failed");
    assert.equal((await pages.asBob.get("/organizations/globex/mails")).status, 404);
  });

  it("is in the menu of the account", async () => {
    const { text } = await pages.asBob.get("/organizations/acme/members");
    assert.match(text, /<a href="\/organizations\/acme\/mails">Mails about builds<\/a>/);
  });
});

const sending = withSettings(startQueuePages, { SMTP_URL: "smtp://127.0.0.1:9" });

describeWorld("the page of mails about builds, with a mail server", sending, (pages) => {
  it("says nothing of the operator", async () => {
    assert.doesNotMatch((await pages.asBob.get(path)).text, /SMTP_URL/);
  });
});
