import assert from "node:assert/strict";
import { afterEach, it } from "node:test";
import { secretOf } from "../../../../shared/triggers/columns.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { assertRefused, form, read, startTriggerPages, triggersPath } from "./trigger-pages.ts";

describeWorldOn(sqlite, "the form of a trigger of type hmac", startTriggerPages, (pages) => {
  afterEach(() => pages.clear());

  const settings = {
    signature_header: " X-Hash ",
    signature_algorithm: "sha512",
    signature_encoding: "base64",
    signature_prefix: "v1 ",
  };
  const stored = { header: "X-Hash", algorithm: "sha512", encoding: "base64", prefix: "v1 " };

  it("sets how the sender signs, and always verifies", async () => {
    const fields = await pages.newForm({ ...settings, type: "hmac", secret: "s3cret" });

    const answer = await pages.member.post(`${triggersPath}/new`, fields);

    assert.equal(answer.status, 200, answer.text);
    const trigger = await pages.find(fields.id);
    assert.deepEqual(trigger.signature, stored);
    assert.equal(secretOf(pages.services.cipher, trigger), "s3cret");
    const shown = read(await pages.member.get(`${triggersPath}/${fields.id}`));
    assert.match(shown, /On, by X-Hash/);
    const setup = read(await pages.member.get(`${triggersPath}/${fields.id}/setup`));
    assert.match(setup, /HMAC-SHA512 of the exact bytes of the body in Base64/);
    assert.match(setup, /-H 'X-Hash: v1 '"\$SIGNATURE"/);
  });

  it("marks each wrong setting, and keeps what was sent", async () => {
    const wrong = {
      signature_header: "X Hash",
      signature_algorithm: "md5",
      signature_encoding: "",
      signature_prefix: " x",
    };
    const answer = await pages.member.post(
      `${triggersPath}/new`,
      await pages.newForm({ ...wrong, type: "hmac" }),
    );

    assertRefused(
      answer,
      "Secret can't be blank, Verification header must be the name of a header, such as X-Signature, Verification algorithm must be one of sha256, sha1, sha512, Verification encoding must be one of hex, base64, Verification prefix must be ASCII text that does not start with a space.",
    );
    for (const name of Object.keys(wrong))
      assert.match(answer.text, new RegExp(`name="${name}"[^>]*aria-invalid="true"`), name);
    assert.match(answer.text, /name="signature_header"[^>]*value="X Hash"/);
  });

  it("changes the settings, and keeps the secret", async () => {
    const { id } = await pages.acme.trigger({
      type: "hmac",
      secret: "s3cret",
      prefix: "old=",
    });
    const edit = `${triggersPath}/${id}/edit`;
    const page = read(await pages.member.get(edit));
    assert.match(page, /name="signature_prefix"[^>]*value="old="/);
    assert.doesNotMatch(page, /name="verify"/);

    assert.equal((await pages.member.post(edit, { ...form, ...settings, secret: "" })).status, 303);

    const changed = await pages.find(id);
    assert.deepEqual(changed.signature, stored);
    assert.equal(secretOf(pages.services.cipher, changed), "s3cret");
    assertRefused(
      await pages.member.post(edit, { ...form, ...settings, signature_header: "" }),
      "Verification header can't be blank.",
    );
  });

  it("takes no notice of the settings for other types", async () => {
    const fields = await pages.newForm({ ...settings, type: "github", verify: "1", secret: "s3cret" });

    assert.equal((await pages.member.post(`${triggersPath}/new`, fields)).status, 200);

    assert.equal((await pages.find(fields.id)).signature, null);
    const edit = read(await pages.member.get(`${triggersPath}/${fields.id}/edit`));
    assert.doesNotMatch(edit, /signature_/);
  });
});
