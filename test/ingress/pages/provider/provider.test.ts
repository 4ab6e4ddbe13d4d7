import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { it } from "node:test";
import { promisify } from "node:util";
import { and, eq } from "drizzle-orm";
import { requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { withDefaults } from "../../../../shared/sources/settings.ts";
import { decideDue } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import { type Answer, eventually, post } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { read } from "../triggers/trigger-pages.ts";

const run = promisify(execFile);
const at = "/organizations/acme";
const push = { ref: "refs/heads/main", after: "1".repeat(40), repository: { full_name: "acme/app" } };
const body = JSON.stringify(push);

/** The values that a page shows to be copied. */
function keysIn(answer: Answer): { url: string; secret: string | undefined } {
  const textOf = (id: string) => new RegExp(`<textarea id="${id}"[^>]*>([^<]*)<`).exec(answer.text)?.[1];
  return { url: textOf("webhook-url") ?? "", secret: textOf("webhook-secret") };
}

describeWorldOn(sqlite, "the page of a pipeline's provider", startQueuePages, (pages) => {
  let made = 0;
  const create = async (repository: string, given: Record<string, string> = {}) => {
    const slug = `app-${++made}`;
    const sent = { cluster: pages.acme.cluster.id, rows: "0", repository, slug, ...given };
    const answer = await pages.asBob.post(`${at}/new-pipeline`, sent);
    return { answer, path: `${at}/pipelines/${slug}/provider`, slug };
  };
  const onGithub = async () => {
    const { answer, ...created } = await create("git@github.com:acme/app.git");
    return { ...created, ...keysIn(answer) };
  };
  const commandIn = (page: string) =>
    (/<textarea id="command"[^>]* wrap="off"[^>]*>([^<]*)</.exec(page)?.[1] ?? "").replace(
      pages.config.webhookUrl,
      pages.url,
    );
  const deliver = async (url: string, secret?: string, event = "push") => {
    const hmac = createHmac("sha256", secret ?? "")
      .update(body)
      .digest("hex");
    const signed: Record<string, string> = secret ? { "X-Hub-Signature-256": `sha256=${hmac}` } : {};
    return (await post(pages.url + new URL(url).pathname, body, { "X-GitHub-Event": event, ...signed }))
      .status;
  };
  const show = async (path: string) => read(await pages.asBob.get(path));
  const words = (html: string) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

  it("follows a new pipeline, which is made of an address alone, and shows the keys once", async () => {
    const { answer, path, slug } = await create("https://github.com/acme/web-shop.git");

    const { url, secret } = keysIn(answer);
    assert.equal((await requirePipeline(pages.services.db, pages.acme.id, slug)).name, "web-shop");
    assert.match(read(answer), /href="https:\/\/github\.com\/acme\/web-shop\/settings\/hooks\/new"/);
    assert.equal(await deliver(url, secret), 201);
    const later = await show(path);
    for (const page of [answer.text, later]) assert.match(page, /Only programs on this machine reach/);
    assert.ok(later.includes(url) && !later.includes(secret ?? ""), "the address stays, the secret does not");
    assert.match(words(later), /The secret was shown once\. If it is lost, make a new one\./);
    assert.match(words(later), /In the repository, open Settings → Webhooks → Add webhook/);
  });

  for (const host of ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"])
    it(`shows a command that sends a verified push, of which a build is made: ${host}`, async () => {
      const { answer, path } = await create(`https://${host}/acme/app.git`);
      const { secret = "" } = keysIn(answer);
      const command = commandIn(read(answer));
      const proof = host === "gitlab.com" ? "with the secret as a token" : "signed with the secret";
      assert.ok(words(read(answer)).includes(`a push to main , ${proof}.`), proof);

      const { stdout } = await run("sh", ["-c", `${command} -s -w ' %{http_code}'`]);

      assert.match(stdout, /^\{"id":"[0-9a-f-]{36}"\} 201$/);
      await decideDue(pages.services);
      const later = await show(path);
      assert.match(words(later), / #1 main A test push /);
      assert.match(words(later), /once you have put the secret into its first line\./);
      const typedIn = commandIn(later).replace("SECRET='…'", `SECRET='${secret}'`);
      assert.equal(typedIn, command, "the page of the provider keeps it, without the secret");
      const forged = command.replace(secret, "another secret");
      assert.match((await run("sh", ["-c", `${forged} -s -w ' %{http_code}'`])).stdout, / 401$/);
    });

  for (const host of ["github.com", "gitlab.com", "codeberg.org", "bitbucket.org"])
    it(`takes another branch and message in the first lines of that command: ${host}`, async () => {
      const { answer, path } = await create(`https://${host}/acme/app.git`, { branch: `it's-"$HOME"` });
      const [secret, branch, message, ...others] = commandIn(read(answer)).split("\n");
      assert.equal(branch, `BRANCH='it'\\''s-\\"$HOME\\"'`);
      assert.equal(message, "MESSAGE='A test push'");
      const send = async (...lines: (string | undefined)[]) =>
        (await run("sh", ["-c", `${[secret, ...lines, ...others].join("\n")} -s -w ' %{http_code}'`])).stdout;

      assert.match(await send(branch, message), / 201$/);
      assert.match(await send("BRANCH=docs/faq", "MESSAGE='It costs $5'"), / 201$/);

      await decideDue(pages.services);
      const later = words(await show(path));
      assert.ok(later.includes(` #1 it's-"$HOME" A test push `), later);
      assert.ok(later.includes(" #2 docs/faq It costs $5 "), later);
    });

  it("follows a pipeline that gets its first repository, and shows the keys once", async () => {
    const { slug } = await create("", { name: "Later" });
    const edit = `${at}/pipelines/${slug}/edit`;
    const save = (repository: string) =>
      pages.asBob.post(edit, { cluster: pages.acme.cluster.id, name: "Later", rows: "0", repository });

    const { url, secret } = keysIn(await save("https://github.com/acme/app.git"));

    assert.equal(await deliver(url, secret), 201);
    const again = await save("git@github.com:acme/app.git");
    assert.equal(again.headers.get("location"), `${at}/pipelines/${slug}?notice=pipeline_saved`);
  });

  it("says of a ping that it reached the webhook", async () => {
    const { path, url, secret } = await onGithub();

    await deliver(url, secret, "ping");
    await decideDue(pages.services);

    assert.match(await show(path), /A ping reached this webhook <a href="[^"]*\/deliveries\/[^"]*"><time/);
  });

  it("says that nothing has come, then what came and what was refused", async () => {
    const { path, url, secret } = await onGithub();
    const before = await show(path);
    assert.match(before, /No delivery yet/);
    assert.match(before, /<details id="setup" class="fold" open/);
    assert.match(before, /data-events=/);

    await deliver(url, secret);
    await deliver(url, "another secret");

    const isTold = async () =>
      /The last delivery was <a href="[^"]+">refused<\/a> <time.*?: Signature wrong/.test(await show(path));
    await eventually("the word of a refusal", isTold);
    await deliver(url, secret);
    await decideDue(pages.services);
    const after = await show(path);
    assert.match(after, /Last delivery <a [^>]*><time.*?#\d+<\/a> <span class="state not_run">/);
    assert.doesNotMatch(after, /class="fold" open/);
    const delivery = new RegExp(`href="(${at}/[^"]*/deliveries/[0-9a-f-]+)"`).exec(after)?.[1] ?? "";
    const shown = await pages.asBob.get(delivery);
    assert.equal(shown.status, 200);
    assert.match(read(shown), /refs\/heads\/main/);
  });

  it("shows the state of each build of the last delivery", async () => {
    const { path, slug, url, secret } = await onGithub();
    await deliver(url, secret);
    await decideDue(pages.services);
    const delivery = new RegExp(`href="(${at}/[^"]*/deliveries/[0-9a-f-]+)"`).exec(await show(path))?.[1];
    assert.equal((await pages.asBob.post(`${delivery}/rebuild`, { rebuild: "1" })).status, 303);
    const { db } = pages.services;
    const { builds } = db.tables;
    const { id } = await requirePipeline(db, pages.acme.id, slug);
    const first = and(eq(builds.pipelineId, id), eq(builds.number, 1));
    await db.transaction(async (tx) => void (await tx.update(builds).set({ state: "failed" }).where(first)));

    assert.match(words(await show(path)), /Last delivery .*?: #1 failed #2 not run /);
  });

  it("makes a new secret, which it shows once; the former one no longer verifies", async () => {
    const { answer: created, path } = await create("git@github.com:acme/app.git");
    const { url, secret } = keysIn(created);
    assert.match(words(await show(`${path}/secret`)), /401: those of GitHub too, until it has the new one\./);

    const answer = await pages.asBob.post(`${path}/secret`, { do: "replace" });

    const changed = keysIn(answer);
    const [first, later] = [read(created), read(answer)];
    assert.match(later, /Until GitHub has this, what it sends is refused\..*Wait for the next delivery/s);
    assert.doesNotMatch(first, /Until GitHub has this/);
    assert.match(first, /Wait for the first delivery/);
    assert.equal(changed.url, url);
    assert.notEqual(changed.secret, secret);
    assert.equal(await deliver(url, secret), 401);
    assert.equal(await deliver(url, changed.secret), 201);
    assert.ok(!(await show(`${path}/secret`)).includes(changed.secret ?? ""));
  });

  it("verifies no more on purpose only, and warns", async () => {
    const { path, url } = await onGithub();
    assert.equal(await deliver(url), 401);
    assert.match(await show(`${path}/secret`), /class="warning"[^<]*>[^<]*can then make builds/);

    const { headers } = await pages.asBob.post(`${path}/secret`, { do: "remove" });

    assert.equal(headers.get("location"), `${path}?notice=provider_unverified`);
    assert.equal(await deliver(url), 201);
    assert.match(await show(path), /Requests are not verified/);
  });

  it("replaces address and secret after a question", async () => {
    const { path, url, secret } = await onGithub();
    assert.match(await show(`${path}/rotate`), /answers 404 at once/);

    const next = keysIn(await pages.asBob.post(`${path}/rotate`, {}));

    assert.equal(await deliver(url, secret), 404);
    assert.equal(await deliver(next.url, next.secret), 201);
  });

  it("refuses what the host sends while it is disabled", async () => {
    const { path, url, secret } = await onGithub();

    await pages.asBob.post(`${path}/disable`, {});
    assert.equal(await deliver(url, secret), 403);
    assert.match(await show(path), /is disabled/);

    await pages.asBob.post(`${path}/enable`, {});
    assert.doesNotMatch(await show(path), /is disabled/);
  });

  it("has the settings of its provider, and leaves others as they are", async () => {
    const { path, slug } = await onGithub();
    const form = await show(`${path}/settings`);
    assert.match(form, /name="build_branches"[^>]* checked/);
    assert.match(form, /name="build_merge_group_checks_requested"/);
    assert.match(form, /name="publish_commit_status"[^>]* checked/);
    assert.doesNotMatch(form, /name="build_release_published"/);
    assert.match(
      form,
      /as in <code>build\.branch == .*For branches alone, .* In the API: filter_condition\./,
    );
    assert.match(form, /\(build_branches in the API\)/);
    const { answer } = await create("https://bitbucket.org/acme/app.git");
    assert.match(read(answer), /View requests/);
    assert.doesNotMatch(await show(`${at}/pipelines/app-${made}/provider/settings`), /merge_group/);

    const settings = {
      build_tags: "1",
      filter_condition: 'build.branch == "main"',
      filter_enabled: "1",
      publish_commit_status: "1",
    };
    const saved = await pages.asBob.post(`${path}/settings`, { trigger_mode: "none", ...settings });

    assert.equal(saved.status, 303, saved.text);
    const { providerSettings } = await requirePipeline(pages.services.db, pages.acme.id, slug);
    assert.deepEqual(providerSettings, {
      trigger_mode: "none",
      build_branches: false,
      build_tags: true,
      build_pull_requests: false,
      prefix_pull_request_fork_branch_names: false,
      skip_pull_request_builds_for_existing_commits: false,
      skip_builds_for_closed_pull_requests: false,
      filter_enabled: true,
      filter_condition: 'build.branch == "main"',
    });
    assert.match(await show(path), /builds nothing/);
  });

  it("marks the setting that is wrong, and keeps what was typed", async () => {
    const { path } = await onGithub();

    const refused = await pages.asBob.post(`${path}/settings`, {
      build_tags: "1",
      filter_condition: "build.(",
    });

    assert.equal(refused.status, 422);
    assert.match(read(refused), /name="filter_condition"[^>]* aria-invalid[^>]*>build\.\(</);
    assert.match(read(refused), /<label for="field-filter_condition">Filter: builds only what it is true/);
    assert.match(read(refused), /id="field-filter_condition-problem">Filter condition: /);
    assert.match(read(refused), /name="build_tags"[^>]* checked/);
  });

  it("uses a condition that is filled in, and keeps one on purpose without its use", async () => {
    const { path, slug } = await onGithub();
    const save = async (given: Record<string, string>) => {
      assert.equal((await pages.asBob.post(`${path}/settings`, given)).status, 303);
      const { providerSettings } = await requirePipeline(pages.services.db, pages.acme.id, slug);
      const { filter_enabled, filter_condition } = withDefaults(providerSettings);
      return [filter_enabled, filter_condition];
    };
    const condition = 'build.branch == "main"';
    const unused = /name="filter_condition_unused"( [^>]*)? checked/;
    assert.doesNotMatch(await show(`${path}/settings`), /filter_condition_unused|name="filter_enabled"/);

    assert.deepEqual(await save({ filter_condition: condition }), [true, condition]);
    assert.doesNotMatch(await show(`${path}/settings`), unused);

    const kept = { filter_condition: condition, filter_condition_unused: "1" };
    assert.deepEqual(await save(kept), [false, condition]);
    assert.match(await show(`${path}/settings`), unused);
    assert.deepEqual(await save({ filter_condition: " " }), [false, null]);

    const filter = "pull_request_branch_filter";
    await save({ [`${filter}_configuration`]: "release/*" });
    const { providerSettings } = await requirePipeline(pages.services.db, pages.acme.id, slug);
    assert.equal(withDefaults(providerSettings)[`${filter}_enabled`], true);
  });

  it("has the host's name in its title, its breadcrumbs and its texts", async () => {
    const { path } = await onGithub();
    for (const page of [path, `${path}/settings`, `${path}/secret`, `${path}/rotate`]) {
      const text = (await show(page)).replace(/<[^>]*>/g, " ");
      assert.doesNotMatch(text, /\bprovider/i, page);
    }
    assert.match(await show(`${path}/settings`), new RegExp(`<a href="${path}">GitHub</a>`));
  });

  it("speaks of merge requests where the host does", async () => {
    const { path } = await create("git@gitlab.com:acme/app.git");
    assert.match(await show(path), /Builds merge requests that are opened/);
    assert.match(await show(`${path}/settings`), /<summary>Merge requests: 4 of 13 on/);
  });

  it("lets pages without a build or a trigger speak of pushes", async () => {
    const { path, slug } = await onGithub();
    const pipeline = words(await show(`${at}/pipelines/${slug}`));
    assert.match(pipeline, /No build yet\. A push makes one, once GitHub sends its webhooks here ?\./);
    assert.doesNotMatch(pipeline, /trigger of this pipeline/);
    const triggers = await show(`${at}/pipelines/${slug}/triggers`);
    assert.match(triggers, new RegExp(`Pushes need none: <a href="${path}">GitHub</a> reports them`));

    const { slug: other } = await create("git@git.example.com:acme/app.git");
    assert.match(words(await show(`${at}/pipelines/${other}`)), /for every webhook that a trigger of this/);
    assert.doesNotMatch(await show(`${at}/pipelines/${other}/triggers`), /Pushes need none/);
  });

  it("leads on where the host is not known, or there is no repository", async () => {
    const { answer, path } = await create("git@git.example.com:acme/app.git");
    assert.equal(answer.headers.get("location"), `${path}?notice=pipeline_created`);
    assert.match(await show(path), /git\.example\.com[\s\S]* An admin of the organization can connect it/);
    const asAdmin = read(await pages.asAda.get(path));
    const [, connect = ""] = /href="([^"]*)"[^>]*>Connect git\.example\.com</.exec(asAdmin) ?? [];
    const form = read(await pages.asAda.get(connect.replaceAll("&amp;", "&")));
    assert.match(form, /name="url"[^>]* value="https:\/\/git\.example\.com"/);

    const own = await create("http://code.example.com:3000/acme/app.git");
    const [, withPort = ""] =
      /href="([^"]*)"[^>]*>Connect code/.exec(read(await pages.asAda.get(own.path))) ?? [];
    const opened = read(await pages.asAda.get(withPort));
    assert.match(opened, /name="url"[^>]* value="http:\/\/code\.example\.com:3000"/);
    const [, action = ""] =
      /<form method="post" action="([^"]*repository_connections[^"]*)"/.exec(opened) ?? [];
    const connected = await pages.asAda.post(action, { type: "gitea", url: "http://code.example.com:3000" });
    assert.equal(
      connected.headers.get("location"),
      `${own.path}?notice=repository_connection_created`,
      "back to the pipeline that needed it",
    );
    const unmade = await show(own.path);
    assert.match(unmade, /is not made yet[\s\S]*Make the webhook/);
    assert.match(unmade, /copy\.js/, "the open page shows the address once there is one");
    await pages.asBob.post(`${own.path}/rotate`, {});
    assert.match(await show(own.path), new RegExp(`href="${own.path}/secret">make a new one`));

    const without = await create("", { name: "None" });
    assert.equal(
      without.answer.headers.get("location"),
      `${at}/pipelines/${without.slug}?notice=pipeline_created&build=next`,
    );
    const page = await show(without.path);
    assert.match(page, /No repository/);
    assert.match(page, /The address decides the source host/);
    assert.match(page, /Steps may skip the checkout/);
    const edit = `${at}/pipelines/${without.slug}/edit`;
    assert.ok(page.includes(`href="${edit}#field-repository"`));
    assert.match(await show(edit), /<input id="field-repository"/);
    assert.equal((await pages.asBob.post(`${path}/rotate`, {})).status, 404);
  });
});
