import assert from "node:assert/strict";
import { before, it } from "node:test";
import { eq } from "drizzle-orm";
import { buildEnvironment } from "../../shared/builds/rows/environment.ts";
import { createCipher } from "../../shared/crypto/cipher.ts";
import { buildWebhook } from "../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { get } from "../helpers/http.ts";
import { startQueuePages } from "../helpers/pages.ts";

describeWorldOn(sqlite, "the variables of a build", startQueuePages, (pages) => {
  before(() => pages.startWorkers());

  const build = async () => {
    const trigger = await pages.acme.trigger({ environment: { COLOUR: "deep red", SIGNALBOX: "no" } });
    return { trigger, ...(await buildWebhook(pages, trigger.path, "{}")) };
  };
  const rowOf = async (number: number) => {
    const { builds } = pages.services.db.tables;
    const [row] = await pages.services.db.select().from(builds).where(eq(builds.number, number));
    return row ?? assert.fail();
  };
  const envOf = async (number: number) => {
    const token = await pages.acme.token("read_builds");
    const path = `/v2/organizations/acme/pipelines/web/builds/${number}`;
    return (await get(pages.url + path, token)).body.env;
  };

  it("are stored as the sealed text of the trigger", async () => {
    const { trigger, number } = await build();

    const row = await rowOf(number);

    assert.equal(row.environmentSealed, trigger.environmentSealed);
    assert.match(row.environmentSealed ?? "", /^v2\./);
    assert.ok(!JSON.stringify(row).includes("deep red"));
  });

  it("are shown in `env` to callers with read_builds", async () => {
    const { number } = await build();

    const env = await envOf(number);

    assert.equal(env.COLOUR, "deep red");
    assert.equal(env.SIGNALBOX, "true");
    assert.equal(env.SIGNALBOX_BUILD_NUMBER, String(number));
  });

  it("are left out once their key is gone, and the build is still shown", async () => {
    const { number } = await build();
    const cipher = createCipher("a key of at least 32 characters, later");

    const env = buildEnvironment(cipher, await rowOf(number), { org: "acme", slug: "web" });

    assert.equal(env.COLOUR, undefined);
    assert.equal(env.SIGNALBOX_PIPELINE_SLUG, "web");
  });

  it("are on the page only after Show, without a script", async () => {
    const { number } = await build();
    const visitor = await pages.visitor(pages.ada);
    const path = pages.paths.build(number);

    const hidden = await visitor.get(path);
    const shown = await visitor.get(`${path}?environment=shown`);

    assert.match(hidden.text, /<code>COLOUR<\/code>/);
    assert.ok(!hidden.text.includes("deep red"));
    assert.ok(hidden.text.includes(`href="${path}?environment=shown#environment"`));
    assert.match(shown.text, /<details id="environment" class="fold" open>/);
    assert.ok(shown.text.includes("deep red"));
    assert.match(shown.text, /Everybody who can read this build can read the values/);
  });

  it("are described to those who set them as readable with builds", async () => {
    const form = await (await pages.visitor(pages.ada)).get(`${pages.paths.pipeline}/triggers/new`);
    assert.match(form.text, /Everybody who can read builds can read these: do not put secrets here/);
    const { text } = await get(`${pages.url}/openapi.json`);
    assert.match(text, /scope read_builds can read them in `env` of a build: do not put secrets here/);
  });
});
