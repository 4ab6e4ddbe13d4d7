import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { loaders } from "../../scripts/node-options.ts";
import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { requireOrganization } from "../../shared/accounts/organizations.ts";
import { findUser } from "../../shared/accounts/user-store.ts";
import { findRegistrar } from "../../shared/agents/tokens.ts";
import { createPasswords, operatorNetworks } from "../../shared/crypto/passwords.ts";
import { sealedPlaces } from "../../shared/crypto/sealed-places.ts";
import { openEnvironment } from "../../shared/pipelines/environment.ts";
import { allBuilds, buildOfDelivery } from "../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { eventually, get, post, request } from "../helpers/http.ts";
import { secretKey, startWorld } from "../helpers/world.ts";
import { operatorOf, runOperator } from "./operator.ts";

describeWorldOn(sqlite, "the operator's command", startWorld, (world) => {
  before(() => world.startWorkers());

  const { admin, refused } = operatorOf(world);

  it("sets up an installation that builds webhooks", async () => {
    const org = await admin("org create --slug acme --name Acme --deliveries-per-hour 500");
    assert.deepEqual(Object.keys(org), ["id", "slug", "name", "deliveries_per_hour"]);
    const user = await admin("user create --email Ada@Example.com --name Ada --org acme");
    assert.equal(user.email, "ada@example.com");
    assert.match(user.password, /^[\w-]{20}$/);
    const created = ["--user", "ada@example.com", "--org", "acme", "--scopes", "read_builds read_pipelines"];
    const token = await admin("token", "create", ...created, "--description", "for tests");
    assert.match(token.token, /^sbat_/);
    assert.deepEqual(token.scopes, ["read_builds", "read_pipelines"]);
    const cluster = await admin("cluster", "create", "--org", "acme", "--name", "Primary");
    const queue = await admin("queue", "create", "--cluster", cluster.id, "--key", "default", "--default");
    assert.equal(queue.key, "default");
    const at = ["--org", "acme", "--cluster", cluster.id];
    const pipeline = await admin("pipeline create --slug web --name Web", ...at, "--command", "make test");
    assert.equal(pipeline.slug, "web");
    const of = ["--org", "acme", "--pipeline", "web"];
    const more = "--branch dev --message Hi --env A=1 --env B=x=y --secret s3cret";
    const trigger = await admin(`trigger create --type github --label Hook ${more}`, ...of);
    assert.match(trigger.endpoint_url, /^http:\/\/localhost:3000\/deliver\/sbtr_/);

    const plain = await admin("trigger create --type webhook --label Plain --env A=1 --env B=x=y", ...of);
    const path = new URL(plain.endpoint_url).pathname;
    assert.equal((await post(world.url + path, '{"from":"outside"}')).status, 201);
    const [build] = await eventually("the build", async () => {
      const builds = await allBuilds(world);
      return builds.length > 0 && builds;
    });
    const variables = openEnvironment(
      world.services.cipher,
      build?.environmentSealed ?? null,
      sealedPlaces.variablesOfBuilds,
    );
    assert.deepEqual(variables, { A: "1", B: "x=y" });

    const reader = await admin("job", "token", ...of, "--build", "1");
    const data = await request(`${world.url}/v3/jobs/${reader.job_id}/data/get`, {
      method: "POST",
      headers: { Authorization: `Token ${reader.token}`, "Content-Type": "application/json" },
      body: '{"key":"service:webhook"}',
    });
    assert.deepEqual(data.body, { key: "service:webhook", value: '{"from":"outside"}' });
    assert.equal((await get(`${world.url}/v2/organizations/acme/builds`, token.token)).body.length, 1);

    assert.equal((await admin("trigger", "disable", plain.id)).enabled, false);
    assert.equal((await post(world.url + path, "{}")).status, 403);
    assert.equal((await admin("trigger", "enable", plain.id)).enabled, true);
    assert.equal((await post(world.url + path, "{}")).status, 201);
    assert.equal((await admin("trigger", "delete", plain.id)).deleted, true);
    assert.equal((await post(world.url + path, "{}")).status, 404);

    assert.ok((await admin("token", "revoke", token.id)).revoked_at);
    assert.equal((await get(`${world.url}/v2/organizations/acme/builds`, token.token)).status, 401);
  });

  it("lists everything without secrets", async () => {
    const lists = [
      ["org", "list"],
      ["user", "list"],
      ["member", "list", "--org", "acme"],
      ["token", "list", "--org", "acme"],
      ["cluster", "list", "--org", "acme"],
      ["pipeline", "list", "--org", "acme"],
      ["trigger", "list", "--org", "acme", "--pipeline", "web"],
      ["job", "list", "--org", "acme", "--pipeline", "web", "--build", "1"],
    ];
    for (const args of lists) {
      const listed = await admin(...args);
      const [items] = Object.values(listed) as [unknown[]];
      assert.ok(items.length >= 1, args.join(" "));
      assert.doesNotMatch(JSON.stringify(listed), /sb[a-z]{2}_|hash|scrypt|s3cret/i);
    }
    const { clusters } = await admin("cluster", "list", "--org", "acme");
    assert.equal((await admin("queue", "list", "--cluster", clusters[0].id)).queues[0].key, "default");
  });

  it("takes names of clusters and queues, in place of ids", async () => {
    const primary = ["--org", "acme", "--cluster", "Primary"];
    const made = await admin("queue", "create", ...primary, "--key", "gpu", "--description", "Big");
    const gpu = [...primary, "--queue", "gpu"];

    const paused = await admin("queue", "pause", ...gpu, "--note", "No power");
    const again = await refused("queue", "pause", "--cluster", made.cluster_id, "--queue", made.id);
    const resumed = await admin("queue", "resume", ...gpu);
    const updated = await admin("queue", "update", ...gpu, "--description", "");
    const deleted = await admin("queue", "delete", ...gpu);

    assert.deepEqual([paused.id, paused.dispatch_paused], [made.id, true]);
    assert.equal(paused.dispatch_paused_note, "No power");
    assert.match(again, /already paused/);
    assert.deepEqual([resumed.dispatch_paused, updated.description], [false, null]);
    assert.deepEqual(deleted, { id: made.id, key: "gpu", deleted: true });
    assert.match(await refused("queue", "pause", ...gpu), /No queue "gpu" found in cluster Primary/);
    assert.match(await refused("queue", "pause", ...gpu, "--note", "x".repeat(2001)), /Note is too long/);
    await admin("cluster", "create", "--org", "acme", "--name", "Spare");
    const spare = ["--org", "acme", "--cluster", "Spare"];
    assert.equal((await admin("cluster", "delete", ...spare)).deleted, true);
    assert.match(await refused("cluster", "delete", ...spare), /No cluster "Spare" found in acme/);
  });

  it("keeps to the organization that it names", async () => {
    await admin("org", "create", "--slug", "apart", "--name", "Apart");
    const { clusters } = await admin("cluster", "list", "--org", "acme");
    const foreign = ["--org", "apart", "--cluster", clusters[0].id];
    assert.match(await refused("queue", "list", ...foreign), /No cluster ".*" found in apart/);
  });

  it("lists builds and deliveries", async () => {
    const { triggers } = await admin("trigger", "list", "--org", "acme", "--pipeline", "web");
    const { builds } = await admin("build", "list", "--org", "acme", "--branch", "main", "--limit", "1");
    const ofPipeline = ["--org", "acme", "--pipeline", "web"];
    const [{ id }] = triggers;
    const sent = await runOperator(world, ["trigger", "send", id, "--file", "-"], { input: "{}" });
    const { id: deliveryId } = JSON.parse(sent.stdout);
    await eventually("the build", () => buildOfDelivery(world, deliveryId));
    const { deliveries } = await admin("delivery", "list", "--trigger", id, "--limit", "1");
    const [delivery] = deliveries;

    assert.deepEqual([builds.length, builds[0].pipeline, builds[0].source], [1, "web", "webhook"]);
    assert.equal((await admin("build", "list", ...ofPipeline, "--state", "passed")).builds.length, 0);
    assert.deepEqual([delivery.id, delivery.status], [deliveryId, "build_created"]);
    assert.equal(delivery.builds.length, 1);
    assert.match(await refused("build", "list", "--org", "acme", "--state", "green"), /Allowed choices/);
  });

  it("creates, lists and revokes registration tokens", async () => {
    const cluster = ["--org", "acme", "--cluster", "Primary"];
    const more = ["--queue", "default", "--description", "Basement", "--expires-in-hours", "2"];

    const created = await admin("agent-token", "create", ...cluster, ...more);
    const { tokens } = await admin("agent-token", "list", ...cluster);

    assert.deepEqual(Object.keys(created), ["id", "token"]);
    const registrar = await findRegistrar(world.services, created.token);
    assert.deepEqual([registrar?.token.description, registrar?.queue?.key], ["Basement", "default"]);
    const expiresInMs = Date.parse(tokens[0].expires_at) - Date.parse(tokens[0].created_at);
    assert.equal(tokens[0].id, created.id);
    assert.ok(expiresInMs > 7_000_000 && expiresInMs <= 7_200_000, `${expiresInMs}`);
    assert.doesNotMatch(JSON.stringify(tokens), /sbct_|hash/i);
    assert.equal((await admin("agent-token", "revoke", "--id", created.id)).revoked, true);
    assert.equal(await findRegistrar(world.services, created.token), undefined);
    assert.match(await refused("agent-token", "revoke", "--id", created.id), /No agent token ".*" found/);
    assert.match(await refused("agent-token", "create", "--cluster", created.id), /No cluster ".*" found/);
    assert.match(
      await refused("agent-token", "create", ...cluster, "--queue", "nope"),
      /No queue "nope" found in cluster Primary/,
    );
    const long = ["--description", "x".repeat(256)];
    assert.match(await refused("agent-token", "create", ...cluster, ...long), /too long/);
    const { id: organizationId } = await requireOrganization(world.services.db, "acme");
    const [entry] = await listAuditEvents(world.services.db, { organizationId }, 1);
    assert.deepEqual([entry?.actor, entry?.event.action], ["Operator", "revoked"]);
  });

  it("changes organizations, members and passwords", async () => {
    const feature = (state: string) => ["--feature", `webhook_filtering=${state}`];
    assert.deepEqual((await admin("org", "update", "acme", ...feature("true"))).features, [
      "webhook_filtering",
    ]);
    const limited = await admin("org", "update", "acme", "--deliveries-per-hour", "7");
    assert.deepEqual([limited.deliveries_per_hour, limited.features], [7, ["webhook_filtering"]]);
    assert.deepEqual(await admin("org", "update", "acme"), limited);
    assert.deepEqual((await admin("org", "update", "acme", ...feature("false"))).features, []);

    await admin("org", "create", "--slug", "second", "--name", "Second");
    const ada = ["--org", "second", "--user", "ada@example.com"];
    assert.equal((await admin("member", "add", ...ada)).role, "member");
    assert.equal((await admin("member", "update", ...ada, "--role", "admin")).role, "admin");
    assert.match(await refused("member", "add", ...ada), /already a member/);
    const { id } = (await findUser(world.services.db, "ada@example.com")) ?? assert.fail();
    let ends = 0; // of the member's open streams
    const unsubscribe = world.services.events.subscribe([`user:${id}`], () => ends++);
    await world.services.awaitRedis();
    await sleep(200);
    await admin("member", "remove", ...ada);
    await eventually("the event", async () => ends > 0);
    unsubscribe();
    assert.match(await refused("member", "remove", ...ada), /not a member/);

    const setting = ["user", "set-password", "ada@example.com", "--password-stdin"];
    const set = await runOperator(world, setting, { input: "from standard input\n" });
    assert.equal(set.code, 0);
    assert.doesNotMatch(set.stdout, /standard input/);
    const user = await findUser(world.services.db, "ada@example.com");
    assert.ok(
      await createPasswords().matches("from standard input", user?.passwordHash ?? "", operatorNetworks),
    );
    assert.equal((await admin("user", "disable", "ada@example.com")).disabled, true);
  });

  it("records each command in the audit log as Operator", async () => {
    const audited = async (slug: string) => {
      const { id: organizationId } = await requireOrganization(world.services.db, slug);
      const entries = await listAuditEvents(world.services.db, { organizationId }, 100);
      return entries.reverse().map(({ event, actor }) => {
        assert.equal(actor, "Operator");
        return `${event.action} ${event.subjectType} ${event.subject}`;
      });
    };
    const grace = "grace@example.com";
    const member = ["--org", "visited", "--user", grace];

    await admin("org", "create", "--slug", "watched", "--name", "Watched");
    await admin("org", "create", "--slug", "visited", "--name", "Visited");
    await admin("org", "update", "watched", "--deliveries-per-hour", "7");
    await admin("org", "update", "watched", "--feature", "webhook_filtering=true");
    await admin("user", "create", "--email", grace, "--name", "Grace", "--org", "watched");
    await admin("member", "add", ...member);
    const scopes = ["--scopes", "read_user", "--description", "Script"];
    const token = await admin("token", "create", "--user", grace, "--org", "watched", ...scopes);
    await admin("token", "revoke", token.id);
    await admin("user", "set-password", grace);
    await admin("member", "update", ...member, "--role", "admin");
    await admin("user", "disable", grace);
    await admin("user", "disable", grace);
    await admin("member", "remove", ...member);

    assert.deepEqual(await audited("watched"), [
      "created organization watched",
      "updated organization watched",
      "updated organization watched",
      `created user ${grace}`,
      "created access_token Script",
      "revoked access_token Script",
      `set the password of user ${grace}`,
      `deactivated user ${grace}`,
    ]);
    assert.deepEqual(await audited("visited"), [
      "created organization visited",
      `added member ${grace}`,
      `set the password of user ${grace}`,
      `made admin member ${grace}`,
      `deactivated user ${grace}`,
      `removed member ${grace}`,
    ]);
  });

  it("lists in its help the scopes that a token can have", async () => {
    const { code, stdout } = await runOperator(world, ["token", "create", "--help"]);
    assert.equal(code, 0);
    assert.match(stdout, /Scopes: read_pipelines, read_builds,/);
  });

  it("explains bad input in one sentence", async () => {
    const { clusters } = await admin("cluster", "list", "--org", "acme");
    const cluster = ["--org", "acme", "--cluster", clusters[0].id];
    const hook = ["trigger", "create", "--org", "acme", "--pipeline", "web", "--label", "x"];
    const cases: [RegExp, ...string[]][] = [
      [/Slug has already been taken/, "org", "create", "--slug", "acme", "--name", "Again"],
      [/required option '--slug/, "org", "create", "--name", "x"],
      [/whole number/, "org", "create", "--slug", "x", "--name", "x", "--deliveries-per-hour", "-1"],
      [/No organization "nope" found/, "org", "update", "nope"],
      [/one of windows_hosted_agents/, "org", "update", "acme", "--feature", "nope=true"],
      [/No active access token/, "token", "revoke", "00000000-0000-7000-8000-000000000000"],
      [/"nope" is not an id: add --org/, "queue", "create", "--cluster", "nope", "--key", "x"],
      [/No cluster "nope" found in acme/, "queue", "list", "--org", "acme", "--cluster", "nope"],
      [/the queue gpu/, "pipeline", "create", ...cluster, "--slug", "p", "--name", "P", "--queue", "gpu"],
      [/NAME=value/, ...hook, "--type", "webhook", "--env", "novalue"],
      [/No trigger ".*" found/, "trigger", "delete", "00000000-0000-7000-8000-000000000000"],
      [/No build "99" found in web/, "job", "token", "--org", "acme", "--pipeline", "web", "--build", "99"],
      [/unknown command 'frobnicate'; see npm run -s admin -- --help/, "frobnicate"],
      [/unknown command 'lst' \(Did you mean list\?\); see npm run -s admin -- org --help/, "org", "lst"],
      [/missing required argument 'id'; see .* trigger enable --help/, "trigger", "enable"],
      [/got 1: now; see .* clock accept --help/, "clock", "accept", "now"],
      [/Give ids of messages, or --all/, "outbox", "retry", "--org", "acme"],
    ];
    const sentences = await Promise.all(cases.map(([, ...args]) => refused(...args)));
    for (const [at, [expected]] of cases.entries()) assert.match(sentences[at] ?? "", expected);
  });
});

describe("npm run -s admin", () => {
  it("prints JSON on stdout and errors on stderr, and sets the exit code", async () => {
    const world = await startWorld(sqlite);
    const start = async (...args: string[]) => {
      const child = spawn(process.execPath, [...loaders, "scripts/admin.ts", ...args], {
        env: { ...process.env, SECRET_KEY: secretKey, DATABASE_URL: world.config.databaseUrl },
      });
      const code = new Promise((resolve) => child.on("close", resolve));
      return [await text(child.stdout), await text(child.stderr), await code];
    };

    assert.deepEqual(await start("org", "list"), ['{\n  "organizations": []\n}\n', "", 0]);
    assert.deepEqual(await start("org", "update", "nope"), ["", 'No organization "nope" found\n', 1]);
    await world.close();
  });
});

describe("the operator's command without an installation", () => {
  it("explains itself at every level", async () => {
    const env = { DATABASE_URL: "file:/nonexistent/x.db" };
    for (const args of [["--help"], ["org", "--help"], ["trigger", "create", "--help"]]) {
      const { stdout, code } = await runOperator(undefined, args, { env });
      assert.equal(code, 0);
      assert.match(stdout, /^Usage: admin/);
    }
  });

  it("reports a missing migration or wrong settings in one sentence", async () => {
    const list = ["org", "list"];
    const env = { DATABASE_URL: `file:/tmp/signalbox-unmigrated-${process.pid}/x.db` };
    const unmigrated = await runOperator(undefined, list, { env });
    assert.deepEqual(
      [unmigrated.code, unmigrated.stderr],
      [1, "The database is not migrated (no such table: organizations): run npm run migrate.\n"],
    );
    const unset = await runOperator(undefined, list, { env: { PORT: "x" } });
    assert.equal(unset.code, 1);
    assert.match(unset.stderr, /PORT must be a whole number/);
  });
});
