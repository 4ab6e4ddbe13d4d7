import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { base, graphqlId, timestamp, unknownId } from "../helpers/api.ts";
import { describeWorldOn, sqlite } from "../helpers/databases.ts";
import { addPerson, setUpOrganization } from "../helpers/organization.ts";
import { openTriggerApi } from "../helpers/trigger-api.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describeWorldOn(sqlite, "POST …/pipelines/{slug}/triggers", openTriggerApi, (api, database) => {
  const freshPath = async () => api.triggersAt((await api.newPipeline()).slug);
  const full = {
    type: "github",
    label: "Pushes",
    enabled: false,
    build: { message: "Pushed", commit: "abc123", branch: "dev", environment: { COLOUR: "blue", _A1: "" } },
    verification: { strategy: "hmac", secret: "It's a secret" },
  };

  describe("201", () => {
    it("answers the whole trigger, with defaults for missing members", async () => {
      const { slug, id: pipelineId } = await api.newPipeline();
      const body = { type: "webhook", label: "Plain" };

      const { status, body: trigger } = await api.send("POST", api.triggersAt(slug), { body });

      assert.equal(status, 201);
      assert.match(trigger.id, uuid);
      assert.match(trigger.created_at, timestamp);
      assert.match(trigger.endpoint_url, /^https:\/\/hooks\.example\.com\/deliver\/sbtr_[0-9A-Za-z]{49}$/);
      const by = {
        id: api.admin.id,
        graphql_id: graphqlId("User", api.admin.id),
        name: api.admin.name,
        email: api.admin.email,
        avatar_url: trigger.created_by.avatar_url,
        created_at: api.admin.createdAt.toISOString(),
      };
      assert.match(by.avatar_url, /^https:\/\/app\.example\.com\//);
      assert.deepEqual(trigger, {
        id: trigger.id,
        url: `${base}/pipelines/${slug}/triggers/${trigger.id}`,
        type: "webhook",
        label: "Plain",
        enabled: true,
        build: { message: "Triggered build", commit: "HEAD", branch: "main", environment_variables: [] },
        filter: null,
        verification: null,
        endpoint_url_hint: `XXXXXXXXXXXXXXXXXXXX${trigger.endpoint_url.slice(-2)}`,
        endpoint_url: trigger.endpoint_url,
        created_at: trigger.created_at,
        created_by: by,
        updated_at: trigger.created_at,
        updated_by: by,
        pipeline: { id: pipelineId, slug, url: `${base}/pipelines/${slug}` },
      });
    });

    it("keeps all sent members, and shows only the last two characters of secrets", async () => {
      const { body: trigger } = await api.send("POST", await freshPath(), { body: full });

      const environment_variables = ["COLOUR", "_A1"];
      const { message, commit, branch } = full.build;
      assert.deepEqual(
        [trigger.type, trigger.label, trigger.enabled, trigger.build, trigger.verification],
        [
          "github",
          "Pushes",
          false,
          { message, commit, branch, environment_variables },
          { strategy: "hmac", secret_hint: "XXXXXXXXXXXXXXXXXXXXet" },
        ],
      );
    });

    it("shows the URL only in the answer to the create", async () => {
      const { slug } = await api.newPipeline();
      const { endpoint_url, ...rest } = await api.newTrigger(full, slug);
      const path = `${api.triggersAt(slug)}/${rest.id}`;

      const got = await api.send("GET", path);
      const listed = await api.send("GET", api.triggersAt(slug));
      const patched = await api.send("PATCH", path, { body: { label: "Pushes" } });

      assert.deepEqual(got.body, rest);
      assert.deepEqual(listed.body.items, [rest]);
      assert.deepEqual(Object.keys(patched.body), Object.keys(rest));
      const token = endpoint_url.split("/").at(-1) ?? "";
      for (const { text } of [got, listed, patched]) assert.ok(!text.includes(token));
    });

    it("creates a URL that works at once unless the trigger is disabled", async () => {
      const { slug } = await api.newPipeline();
      const open = await api.newTrigger({}, slug);
      const closed = await api.newTrigger({ enabled: false }, slug);

      assert.equal((await api.post(open)).status, 201);
      const refused = await api.post(closed);
      assert.deepEqual([refused.status, refused.body], [403, { message: "Pipeline trigger is disabled" }]);
    });

    it("allows members, and names the creator", async () => {
      const member = await addPerson(api.world, api.acme);
      const token = await api.tokenOf(member, ["write_pipelines"]);

      const { status, body } = await api.send("POST", await freshPath(), {
        token,
        body: { type: "linear", label: "Issues" },
      });

      assert.deepEqual([status, body.created_by.id, body.updated_by.id], [201, member.id, member.id]);
    });

    it("accepts values at their limits, and null for a default", async () => {
      const variables = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`V${at}`, "x"]));
      const bodies = [
        { label: "é".repeat(255) },
        { label: " x " },
        { build: {} },
        { build: { message: null, commit: null, branch: null } },
        { build: { message: "", commit: "", branch: "" } },
        { build: { message: " ", commit: "\t", branch: " \n" } },
        { build: { environment: variables } },
        { build: { environment: { ["A".repeat(255)]: "x".repeat(64 * 1024) } } },
        { build: { environment: { A: "x".repeat(64 * 1024), B: "", SIGNALBOXES: "" } } },
        { filter: null },
        { verification: null },
        { type: "linear", verification: { strategy: "hmac", secret: "x" } },
      ];
      for (const body of bodies) {
        const sent = { body: { type: "webhook", label: "x", ...body } };
        const answer = await api.send("POST", await freshPath(), sent);
        const told = `${JSON.stringify(body).slice(0, 100)} ${answer.text.slice(0, 200)}`;
        assert.equal(answer.status, 201, told);
        const { commit, branch, message } = answer.body.build;
        assert.deepEqual([commit, branch, message], ["HEAD", "main", "Triggered build"], told);
      }
    });

    it("shows nothing of a secret of two characters", async () => {
      const verification = { strategy: "hmac", secret: "ab" };
      const sent = { body: { type: "github", label: "x", verification } };

      const { body } = await api.send("POST", await freshPath(), sent);

      assert.equal(body.verification.secret_hint, "XXXXXXXXXXXXXXXXXXXX");
    });

    it("accepts a filter if the organization has the feature", async () => {
      await api.features({ webhook_filtering: true });
      const filter = { expression: "webhook.payload.a == 1" };

      const { status, body } = await api.send("POST", await freshPath(), {
        body: { type: "webhook", label: "x", filter },
      });

      await api.features({ webhook_filtering: false });
      assert.deepEqual([status, body.filter], [201, filter]);
    });
  });

  describe("422", () => {
    const tooMany = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`V${at}`, "x"]));
    const hmac = { strategy: "hmac", secret: "s" };
    const wrongOf = (path: string, values: unknown[]) =>
      values.map((value) => {
        const names = path.split(".");
        return names.reduceRight((inner: unknown, name) => ({ [name]: inner }), value) as object;
      });
    const noText = [1, true, [], {}];
    const noObject = ["x", 1, true, []];
    const notWhole = ["a\0b", "\ud800", "\udc00x"];
    const cases: Record<string, object[]> = {
      "Type can't be blank": [{ type: undefined }, ...wrongOf("type", [null, "", " "])],
      "Type must be text": wrongOf("type", noText),
      "Type must be webhook, github, gitlab, gitea, bitbucket, linear or hmac": wrongOf("type", [
        "subversion",
        "GitHub",
        "toString",
        "x\ny",
      ]),
      "Label can't be blank": [{ label: undefined }, ...wrongOf("label", [null, "", " \t\n"])],
      "Label must be text": wrongOf("label", noText),
      "Label is too long (maximum is 255 characters)": wrongOf("label", ["x".repeat(256)]),
      "Label must be text without NUL": wrongOf("label", notWhole),
      "Enabled must be true or false": wrongOf("enabled", [null, 0, "true", {}]),
      "Build must be an object": wrongOf("build", [null, ...noObject]),
      "Build message must be text": wrongOf("build.message", noText),
      "Build commit must be text": wrongOf("build.commit", noText),
      "Build branch must be text": wrongOf("build.branch", noText),
      "Build message must be text without NUL": wrongOf("build.message", notWhole),
      "Build commit must be text without NUL": wrongOf("build.commit", notWhole),
      "Build branch must be text without NUL": wrongOf("build.branch", notWhole),
      "Environment must be an object of names and text": wrongOf("build.environment", [null, ...noObject]),
      "Environment variable A must be text, not null": wrongOf("build.environment.A", [null]),
      "Environment variable A must be text, not a number": wrongOf("build.environment.A", [1]),
      "Environment variable A must be text, not true or false": wrongOf("build.environment.A", [true]),
      "Environment variable A must be text, not a list": wrongOf("build.environment.A", [[]]),
      "Environment variable A must be text, not an object": wrongOf("build.environment.A", [{}]),
      "Environment variable A must be text without NUL": wrongOf("build.environment.A", notWhole),
      "Environment names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself":
        wrongOf("build.environment", [{ SIGNALBOX: "x" }, { SIGNALBOX_X: "x", A: "x" }]),
      "Environment names are too long (maximum is 255 characters)": wrongOf("build.environment", [
        { ["A".repeat(256)]: "x" },
      ]),
      "Environment names must be letters, digits and _, not starting with a digit": [
        ...["", "1A", "A-B", "A.B", "Ä", "A B", "A\n", "A=", "a\0"].map((name) => ({
          build: { environment: { [name]: "x" } },
        })),
      ],
      "Environment has more than 100 variables": wrongOf("build.environment", [tooMany]),
      "Environment values are larger than 64 KB in all": wrongOf("build.environment", [
        { A: "x".repeat(33_000), B: "x".repeat(33_000) },
        { A: "é".repeat(33_000) },
      ]),
      "Filter must be an object": wrongOf("filter", noObject),
      "Filter expression can't be blank": wrongOf("filter", [{}, { expression: null }, { expression: " " }]),
      "Filter expression must be text": wrongOf("filter.expression", noText),
      "Filter expression is too long (maximum is 256 characters)": wrongOf("filter.expression", [
        `true${" ".repeat(253)}`,
      ]),
      "Filters are not available to this organization": wrongOf("filter.expression", ["true"]),
      "Verification must be an object": wrongOf("verification", noObject),
      "Verification strategy must be hmac": [{}, { strategy: null }, { strategy: "HMAC" }].map((each) => ({
        type: "github",
        verification: { secret: "s", ...each },
      })),
      "Secret can't be blank": [{}, { secret: null }, { secret: "" }, { secret: "  " }].map((each) => ({
        type: "github",
        verification: { strategy: "hmac", ...each },
      })),
      "Secret must be text": [{ type: "github", verification: { strategy: "hmac", secret: 1 } }],
      "Secret must be text without NUL": notWhole.map((secret) => ({
        type: "linear",
        verification: { strategy: "hmac", secret },
      })),
      "Verification is not available for webhook triggers": [{ type: "webhook", verification: hmac }],
      "Trigger has no member named labels. Did you mean label?": wrongOf("labels", [null, 1]),
      "Trigger has no member named endpoint_url": wrongOf("endpoint_url", ["x"]),
      "Trigger has no member named message. Did you mean build.message?": wrongOf("message", ["x"]),
      "Trigger has no member named secret. Did you mean verification.secret?": wrongOf("secret", ["x"]),
      "Trigger has no member named branch, expression, or x. Did you mean build.branch, filter.expression?": [
        { branch: "main", expression: "true", x: 1 },
      ],
      "Trigger has no member named constructor": wrongOf("constructor", [1]),
      "Build has no member named environment_variables": wrongOf("build.environment_variables", [[]]),
      "Build has no member named env": wrongOf("build.env", [{}]),
      "Filter has no member named x": [{ filter: { expression: "true", x: 1 } }],
      "Verification has no member named secret_hint": [
        { type: "github", verification: { strategy: "hmac", secret: "s", secret_hint: "x" } },
      ],
    };

    for (const [reason, bodies] of Object.entries(cases)) {
      it(`says: ${reason}`, async () => {
        for (const each of bodies) {
          const body = { type: "webhook", label: "x", ...each };
          const answer = await api.send("POST", api.triggersAt(), { body });
          const told = JSON.stringify(body).slice(0, 200);
          const message = `Validation failed: ${reason}`;
          assert.deepEqual([answer.status, answer.body], [422, { message }], told);
        }
      });
    }

    it("refuses members named __proto__, at every level", async () => {
      const inside = '"type":"github","label":"x"';
      const verification = '{"strategy":"hmac","secret":"s","__proto__":{}}';
      for (const raw of [
        `{${inside},"__proto__":{"enabled":false}}`,
        `{${inside},"build":{"__proto__":{"branch":"x"}}}`,
        `{${inside},"build":{"environment":{"__proto__":"x"}}}`,
        `{${inside},"verification":${verification}}`,
      ]) {
        const headers = { "Content-Type": "application/json" };
        const answer = await api.send("POST", await freshPath(), { raw, headers });
        assert.equal(answer.status, 422, `${raw} ${answer.text}`);
      }
    });

    it("reports several problems at once, and stores nothing", async () => {
      const { slug } = await api.newPipeline();
      const body = { label: "", enabled: 1, x: 1, build: { branch: 2, y: 1 } };

      const answer = await api.send("POST", api.triggersAt(slug), { body });

      assert.equal(answer.status, 422);
      for (const reason of ["Type can't be blank", "Label can't be blank", "Trigger has no member named x"])
        assert.ok(answer.body.message.includes(reason), answer.body.message);
      const odd = {
        type: "subversion",
        label: "",
        filter: { expression: "true" },
        build: { environment: { SIGNALBOX_X: "x", B: 1, C: null } },
      };
      assert.equal(
        (await api.send("POST", api.triggersAt(slug), { body: odd })).body.message,
        "Validation failed: Label can't be blank, " +
          "Environment names cannot be SIGNALBOX or start with SIGNALBOX_, which every build sets itself, " +
          "Environment variable B must be text, not a number, Environment variable C must be text, not null, " +
          "Type must be webhook, github, gitlab, gitea, bitbucket, linear or hmac, Filters are not available to this organization",
      );
      assert.deepEqual((await api.send("GET", api.triggersAt(slug))).body.items, []);
    });

    it("refuses a pipeline's eleventh trigger, enabled or not, until one is deleted", async () => {
      const { slug } = await api.newPipeline();
      const made = [];
      for (let at = 0; at < 10; at++) made.push(await api.newTrigger({ enabled: at % 2 === 0 }, slug));
      const eleventh = () =>
        api.send("POST", api.triggersAt(slug), { body: { type: "webhook", label: "Eleventh" } });

      const { status, body } = await eleventh();
      assert.deepEqual([status, body], [422, { message: "Pipeline has reached its limit of 10 triggers" }]);

      await api.newTrigger({}, (await api.newPipeline()).slug);
      await api.send("DELETE", `${api.triggersAt(slug)}/${made[3]?.id}`);
      assert.equal((await eleventh()).status, 201);
      assert.equal((await eleventh()).status, 422);
    });
  });

  describe("404", () => {
    it("finds a trigger only in its own pipeline", async () => {
      const { slug } = await api.newPipeline();
      const { id } = await api.newTrigger({}, slug);
      const elsewhere = (await api.newPipeline()).slug;
      const foreign = await setUpOrganization(api.world, `other-${database.dialect}`);
      const theirs = await foreign.trigger();

      const paths = [
        `${api.triggersAt(elsewhere)}/${id}`,
        `${api.triggersAt()}/${theirs.id}`,
        `${api.triggersAt()}/${unknownId}`,
        `${api.triggersAt()}/x`,
        `${api.triggersAt()}/${id.toUpperCase()}x`,
      ];
      for (const path of paths) {
        for (const [method, body] of [["GET"], ["PATCH", { enabled: false }], ["DELETE"]] as const) {
          const answer = await api.send(method, path, body ? { body } : {});
          assert.deepEqual(
            [answer.status, answer.body],
            [404, { message: "No pipeline trigger found" }],
            `${method} ${path}`,
          );
        }
      }
      assert.equal((await api.send("GET", `${api.triggersAt(slug)}/${id}`)).body.enabled, true);
    });
  });
});
