import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listAuditEvents } from "../../../../shared/accounts/audit-store.ts";
import { asOperator } from "../../../../shared/accounts/organizations.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import { createConnection } from "../../../../shared/connections/connections.ts";
import { newConnection } from "../../../../shared/connections/members.ts";
import { environmentOfPipeline } from "../../../../shared/pipelines/environment.ts";
import { createPipeline, requirePipeline, updatePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { DeadlineExceeded } from "../../../../shared/process/threads.ts";
import { threads } from "../../../../shared/sharing/resources.ts";
import type { Step } from "../../../../shared/vocabulary.ts";
import { buildWebhook } from "../../../helpers/builds.ts";
import { describeWorldOn, sqlite } from "../../../helpers/databases.ts";
import type { Answer } from "../../../helpers/http.ts";
import { startQueuePages } from "../../../helpers/pages.ts";
import { assertRefused, read } from "../triggers/trigger-pages.ts";

const at = "/organizations/acme";
const newPath = `${at}/new-pipeline`;
const one = { rows: "1", "step-0-kind": "command", "step-0-command": "make" };

/** The values of the fields that a page shows and a browser would send, by name. */
function valuesOf(answer: Answer): Record<string, string> {
  const text = read(answer);
  const tags = [...text.matchAll(/<input\b[^>]*>/g)].map(([tag]) => tag);
  const sent = tags.filter((tag) => !/\btype="(checkbox|radio)"/.test(tag) || /\schecked\b/.test(tag));
  const inputs = sent.map((tag) => [
    /\bname="([^"]*)"/.exec(tag)?.[1] ?? "",
    /\bvalue="([^"]*)"/.exec(tag)?.[1] ?? "",
  ]);
  const areas = [...text.matchAll(/<textarea\b[^>]*?name="([^"]*)"[^>]*>([\s\S]*?)<\/textarea>/g)].map(
    ([, name, value]) => [name, value],
  );
  return Object.fromEntries([...inputs, ...areas]);
}

/** Says if the page shows the steps in this notation. */
function isPressed({ text }: Pick<Answer, "text">, notation: string): boolean {
  return new RegExp(`value="${notation}"[^>]*aria-pressed="true"`).test(text);
}

describeWorldOn(sqlite, "the form of a pipeline", startQueuePages, (pages) => {
  /** Bob is a member, not an admin. */

  const find = (slug: string) => requirePipeline(pages.services.db, pages.acme.id, slug);
  const fields = (given: Record<string, string> = {}) => ({
    cluster: pages.acme.cluster.id,
    ...one,
    ...given,
  });
  const make = (name: string, steps: Step[] = [{ command: "make" }]) =>
    createPipeline(pages.services, pages.actor, { name, clusterId: pages.acme.cluster.id, steps });

  describe("that is new", () => {
    it("creates what its fields say, by a member", async () => {
      const answer = await pages.asBob.post(
        newPath,
        fields({
          name: "The Shop",
          description: "Every page of the shop",
          repository: "git@example.com:shop.git",
          branch: "trunk",
          branches: "trunk release/*",
          environment: "REGION=eu ",
          rows: "3",
          "step-0-label": "Test",
          "step-0-command": "npm ci\r\nnpm test",
          "step-0-queue": "default",
          "step-0-environment": "CI=1\r\nNAME= a b",
          "step-0-more": '{"timeout_in_minutes": 10, "retry": {"automatic": true}}',
          "step-1-kind": "wait",
          "step-2-command": "./deploy.sh",
          "step-2-more": "  checkout:\r\n    skip: true # nothing to build\r\n  soft_fail: true",
        }),
      );

      assert.equal(
        answer.headers.get("location"),
        `${at}/pipelines/the-shop/provider?notice=pipeline_created`,
        answer.text,
      );
      const made = await find("the-shop");
      assert.deepEqual(
        [made.name, made.description, made.repository, made.defaultBranch, made.branchConfiguration],
        ["The Shop", "Every page of the shop", "git@example.com:shop.git", "trunk", "trunk release/*"],
      );
      assert.deepEqual(environmentOfPipeline(pages.services.cipher, made), { REGION: "eu " });
      assert.deepEqual(made.steps, [
        {
          label: "Test",
          command: "npm ci\nnpm test",
          agents: { queue: "default" },
          env: { CI: "1", NAME: " a b" },
          timeout_in_minutes: 10,
          retry: { automatic: [{ limit: 2 }] },
        },
        { type: "wait" },
        { command: "./deploy.sh", checkout: { skip: true }, soft_fail: true },
      ]);
      const audited = { organizationId: pages.acme.id, subjects: { types: ["pipeline"], ids: [made.id] } };
      const [event] = await listAuditEvents(pages.services.db, audited, 10);
      assert.deepEqual([event?.event.action, event?.actor], ["created", "Bob"]);
    });

    it("takes the steps from the repository unless they are written", async () => {
      const shown = { ...valuesOf(await pages.asBob.get(newPath)), cluster: pages.acme.cluster.id };
      assert.equal(isPressed(await pages.asBob.get(newPath), "repository"), true);

      const without = await pages.asBob.post(newPath, { ...shown, name: "Without a repository" });
      assertRefused(
        without,
        "Repository can't be blank, as the steps come from it: give it, or write the steps here.",
      );
      assert.equal(isPressed(without, "repository"), true);
      const repository = "git@example.com:acme/unasked.git";
      assert.equal((await pages.asBob.post(newPath, { ...shown, repository })).status, 303);
      const command = "buildkite-agent pipeline upload";
      assert.deepEqual((await find("unasked")).steps, [{ label: "Upload steps", command }]);
      assert.equal(isPressed(await pages.asBob.get(`${at}/pipelines/unasked/edit`), "repository"), true);
    });

    it("begins with the fields of a step if it is the organization's first, whose build needs no file", async () => {
      await createCluster(pages.services, await asOperator(pages.services.db, pages.globex), {
        name: "Primary",
      });
      const globexPath = "/organizations/globex/new-pipeline";
      const page = await pages.asAda.get(globexPath);
      assert.equal(isPressed(page, "rows"), true);
      assert.equal(valuesOf(page)["step-0-command"], "");

      const configuration = "steps: [wait]";
      const ofGuide = await pages.asAda.get(`${globexPath}?${new URLSearchParams({ configuration })}`);
      assert.equal(isPressed(ofGuide, "yaml"), true);
    });

    it("names the file that the repository needs, and says that a build fails without it", async () => {
      const page = read(await pages.asBob.get(newPath));
      assert.match(page, /needs a file <code>\.buildkite\/pipeline\.yml<\/code>/);
      assert.match(page, /<pre class="payload">steps:\n {2}- label: Tests\n {4}command: make test<\/pre>/);
      assert.match(page, /Without the file that step fails, and the build with it/);
    });

    it("begins each notation blank, and converts what was written", async () => {
      const shown = valuesOf(await pages.asBob.get(newPath));
      const press = async (act: string, sent: Record<string, string>) => {
        const answer = await pages.asBob.post(newPath, { ...sent, do: act });
        assert.equal(isPressed(answer, act), true, act);
        return valuesOf(answer);
      };
      const rows: Record<string, string> = await press("rows", shown);
      assert.deepEqual([rows.rows, rows["step-0-command"]], ["1", ""]);
      assert.equal((await press("yaml", rows)).configuration, "");
      assert.equal((await press("json", shown)).steps, "");

      const yaml = await press("yaml", { ...rows, "step-0-command": "make" });
      assert.equal(yaml.configuration, "steps:\n  - command: make\n");
      assert.equal((await press("rows", yaml))["step-0-command"], "make");
      assert.equal((await press("yaml", yaml)).configuration, yaml.configuration);
      assert.equal((await press("repository", yaml)).repository_steps, "1");
    });

    it("leads from each notation to how steps are written, and says how to go without checkout", async () => {
      const first = await pages.asBob.get(newPath);
      for (const act of ["repository", "rows", "yaml", "json"]) {
        const page = read(await pages.asBob.post(newPath, { ...valuesOf(first), do: act }));
        assert.ok(
          page.includes('<a href="/docs/steps" target="_blank" rel="noopener">How to write steps</a>'),
          act,
        );
        const checkout =
          '<a href="/docs/steps#checkout" target="_blank" rel="noopener">skip the checkout</a>';
        assert.ok(page.includes(checkout), act);
        assert.match(
          page,
          /steps with “Do not clone the repository” \(in YAML, checkout: \{skip: true\}\)/,
          act,
        );
      }
      assert.match((await pages.asBob.get("/docs/steps")).text, /<h2 id="checkout">/);
    });

    it("says beside each choice when to take it", async () => {
      const page = read(await pages.asBob.get(newPath));
      assert.match(
        page,
        /aria-pressed="true"[^>]*>In the repository<.*the form is the shortest way to a first/s,
      );
      assert.match(page, /Its address, such as https:\/\/github\.com\/acme\/app\.git or git@/);
      assert.match(page, /To try without a repository, tick that box: the address need not exist\./);
      assert.match(
        page,
        /For all else, .* the page of the source host has a filter\. With a repository, that/,
      );
    });

    it("folds the settings that few need, unless one was filled in or is wrong", async () => {
      const isOpen = (answer: Answer) => /<details id="others"[^>]* open/.test(read(answer));
      const first = await pages.asBob.get(newPath);
      assert.equal(isOpen(first), false);
      assert.match(read(first), /<summary>More settings: branches, variables, time-outs<\/summary>/);
      const rows = valuesOf(await pages.asBob.post(newPath, { ...valuesOf(first), do: "rows" }));
      const adding = { ...rows, ...fields({ name: "Folded" }), do: "add" };
      assert.equal(isOpen(await pages.asBob.post(newPath, adding)), false);
      assert.equal(isOpen(await pages.asBob.post(newPath, { ...adding, description: "x" })), true);
      const refused = await pages.asBob.post(newPath, { ...rows, name: "" });
      assert.match(refused.text, /Name can.+t be blank/);
      assert.equal(isOpen(refused), false);

      const { slug } = await make("Folded");
      const edit = `${at}/pipelines/${slug}/edit`;
      const saved = await pages.asBob.get(edit);
      assert.equal(isOpen(saved), false);
      const wrong = { ...valuesOf(saved), default_timeout_in_minutes: "soon" };
      assert.equal(isOpen(await pages.asBob.post(edit, wrong)), true);
    });

    it("takes steps as JSON by the rules of REST", async () => {
      const { rows: _, ...rest } = fields({ name: "As JSON" });
      const steps = '\ufeff[{"commands": ["a", "b"], "id": "x"}, "wait", {"command": "c"}]';
      assert.equal((await pages.asBob.post(newPath, { ...rest, steps })).status, 303);
      assert.deepEqual((await find("as-json")).steps, [
        { command: "a\nb", key: "x" },
        { type: "wait" },
        { command: "c" },
      ]);

      const refused = async (given: string, reason: string) =>
        assertRefused(await pages.asBob.post(newPath, { ...rest, name: "Not", steps: given }), reason);
      await refused('[{"command": "a"},', "Steps are not valid JSON.");
      await refused("{}", "Steps must be a list.");
      await refused('[{"block": []}]', "Step block must be text.");
      await refused(`[{"plugins": ${"[".repeat(500)}${"]".repeat(500)}}]`, "Steps are nested too deeply.");
    });

    it("takes groups as JSON only", async () => {
      const { rows: _, ...rest } = fields({ name: "Grouped" });
      const steps = [{ type: "group", label: "All", steps: [{ command: "a", artifact_paths: "x" }] }];
      const answer = await pages.asBob.post(newPath, { ...rest, steps: JSON.stringify(steps) });
      assert.equal(answer.status, 303);

      const edit = await pages.asBob.get(`${at}/pipelines/grouped/edit`);
      assert.deepEqual(JSON.parse(valuesOf(edit).steps ?? ""), steps);
      const refused = await pages.asBob.post(newPath, { ...rest, steps: JSON.stringify(steps), do: "rows" });
      assertRefused(refused, "Steps other than commands and waits can be edited as YAML and JSON only.");
      const shown = await pages.asBob.get(`${at}/pipelines/grouped`);
      assert.match(read(shown), /All<ol class="steps"><li><code>a<\/code>/);
    });

    it("reads the YAML of all rows in one turn of a thread, and says if it takes too long", async (t) => {
      const more = (index: number) => ({
        [`step-${index}-command`]: "a",
        [`step-${index}-more`]: `key: k${index}`,
      });
      const given = { ...fields({ name: "Many in YAML", rows: "4" }), ...more(0), ...more(1), ...more(2) };
      const rows = { ...given, "step-3-command": "b", "step-3-more": '{"key": "json"}' };
      const take = t.mock.method(threads, "take");
      const inJson = { ...fields({ name: "In JSON" }), "step-0-more": '{"key": "json"}' };
      assert.equal((await pages.asBob.post(newPath, inJson)).status, 303);
      assert.equal(take.mock.callCount(), 0, "JSON needs none");
      assert.equal((await pages.asBob.post(newPath, rows)).status, 303);
      assert.equal(take.mock.callCount(), 1);
      const keys = (await find("many-in-yaml")).steps.map((step) => "key" in step && step.key);
      assert.deepEqual(keys, ["k0", "k1", "k2", "json"]);

      take.mock.mockImplementation(() => Promise.reject(new DeadlineExceeded(5000)));
      const late = await pages.asBob.post(newPath, { ...rows, name: "Late" });
      assertRefused(late, "Other settings of the steps take longer than 5 seconds to read.");
    });

    it("has a box that stands for a checkout that is skipped", async () => {
      const given = fields({ name: "No clone", "step-0-skipsCheckout": "1" });
      assert.equal((await pages.asBob.post(newPath, given)).status, 303);
      assert.deepEqual((await find("no-clone")).steps, [{ command: "make", checkout: { skip: true } }]);

      const edit = `${at}/pipelines/no-clone/edit`;
      const shown = await pages.asBob.get(edit);
      assert.match(
        read(shown),
        /name="step-0-skipsCheckout" value="1" checked\S*> *<span>Do not clone the repository/,
      );
      const { "step-0-skipsCheckout": box, "step-0-more": more } = valuesOf(shown);
      assert.deepEqual([box, more], ["1", ""]);
      const yaml = valuesOf(await pages.asBob.post(edit, { ...valuesOf(shown), do: "yaml" }));
      assert.equal(yaml.configuration, "steps:\n  - checkout:\n      skip: true\n    command: make\n");
      const rows = valuesOf(await pages.asBob.post(edit, { ...yaml, do: "rows" }));
      assert.deepEqual([rows["step-0-skipsCheckout"], rows["step-0-more"]], ["1", ""]);

      const { "step-0-skipsCheckout": _, ...without } = valuesOf(shown);
      assert.equal((await pages.asBob.post(edit, without)).status, 303);
      assert.deepEqual((await find("no-clone")).steps, [{ command: "make" }]);
    });

    it("leaves the other members of a checkout that is skipped to the YAML", async () => {
      const steps: Step[] = [{ command: "make", checkout: { skip: true, depth: 1 } }];
      const { slug } = await make("Skipped and shallow", steps);
      const edit = `${at}/pipelines/${slug}/edit`;
      const values = valuesOf(await pages.asBob.get(edit));
      assert.deepEqual(
        [values["step-0-skipsCheckout"], values["step-0-more"]],
        ["1", "checkout:\n  depth: 1"],
      );

      assert.equal((await pages.asBob.post(edit, { ...values, description: "Saved" })).status, 303);

      const saved = await find(slug);
      assert.deepEqual([saved.description, saved.steps], ["Saved", steps]);
    });

    it("says each problem beside its field, and keeps what was typed", async () => {
      const answer = await pages.asBob.post(
        newPath,
        fields({
          name: " ",
          slug: "Not A Slug",
          repository: "--upload-pack=evil",
          environment: "=1",
          rows: "3",
          "step-0-command": "",
          "step-0-label": "l".repeat(256),
          "step-1-command": "a",
          "step-1-queue": "nowhere",
          "step-1-environment": "no equals sign",
          "step-2-command": "b",
          "step-2-more": '{"timeout_in_minutes": "soon"}',
        }),
      );

      assert.equal(answer.status, 422);
      const beside = Object.fromEntries(
        [...read(answer).matchAll(/class="problem" id="field-([^"]+)-problem">([^<]*)</g)].map(
          ([, field, text]) => [field, text],
        ),
      );
      assert.deepEqual(beside, {
        name: "Name can't be blank.",
        repository: "Repository must be an address, without control characters.",
        environment:
          "Line 1 of the environment variables must start with a name of letters, digits and _, not starting with a digit.",
        "step-0-command": "Step command can't be blank.",
        "step-0-label": "Step label is too long (maximum is 255 characters).",
        "step-1-environment": "Line 1 of the environment variables has no = after a name.",
        "step-2-more": "Step timeout_in_minutes must be a whole number from 0 to 525,600.",
      });
      const [problem, area] = ["field-environment-problem", '<textarea id="field-environment"'];
      assert.ok(answer.text.indexOf(`id="${problem}"`) < answer.text.indexOf(area), "above what may be high");
      const values = valuesOf(answer);
      assert.equal(values["step-0-label"], "l".repeat(256));
      assert.equal(values["step-1-queue"], "nowhere");
      assert.equal(values["step-2-more"], '{"timeout_in_minutes": "soon"}');
      assert.equal(values.slug, "Not A Slug");
    });

    it("corrects an address that git cannot clone, and saves it when it is sent again", async () => {
      const page = "https://github.com/acme/shown/tree/main";
      const first = await pages.asBob.post(newPath, fields({ repository: page }));
      const message = "Repository is corrected to https://github.com/acme/shown, which git can clone: ";
      assert.equal(first.status, 422);
      assert.ok(read(first).includes(message), first.text);
      assert.equal(valuesOf(first).repository, "https://github.com/acme/shown");

      await pages.asBob.post(newPath, fields({ repository: valuesOf(first).repository ?? "" }));

      assert.equal((await find("shown")).repository, "https://github.com/acme/shown");
    });

    it("leaves the address as it was typed until it is to be saved", async () => {
      const answer = await pages.asBob.post(
        newPath,
        fields({ repository: "github.com/acme/app", do: "add" }),
      );
      assert.equal(valuesOf(answer).repository, "github.com/acme/app");
    });

    it("refuses what the organization does not have, beside the field", async () => {
      const refused = async (given: Record<string, string>, field: string, reason: string) => {
        const answer = await pages.asBob.post(newPath, fields({ name: "Refused", ...given }));
        assert.equal(answer.status, 422);
        assert.match(read(answer), new RegExp(`id="field-${field}-problem">${reason}\\.<`));
      };
      await refused({ name: "Web" }, "slug", "Slug has already been taken");
      await refused({ name: "…" }, "slug", "Slug can't be made of this name: give one");
      await refused(
        { repository: "acme/app" },
        "repository",
        "Repository must be an address with its host, such as https://github.com/acme/app",
      );
      await refused(
        { repository: "gitlab.com/acme" },
        "repository",
        "Repository must be an address with owner and name, such as https://gitlab.com/acme/app",
      );
      const unsafe = "Repository must be an address, without control characters";
      await refused({ repository: "-oProxy/app" }, "repository", unsafe);
      await refused({ cluster: "x" }, "cluster", "Cluster must be a cluster of the organization");
      await refused({ "step-0-command": " " }, "step-0-command", "Step command can't be blank");
      await refused(
        { rows: "2", "step-1-command": "a", "step-1-queue": "nowhere" },
        "step-1-queue",
        "Steps name the queue nowhere, which the cluster does not have",
      );
      await refused(
        { "step-0-more": '{"concurrency": 1}' },
        "step-0-more",
        "Step concurrency needs concurrency_group",
      );
      const more = (text: string, reason: string) =>
        refused({ "step-0-more": text }, "step-0-more", `Other settings${reason}`);
      const noMap = " must be a map, as in timeout_in_minutes: 10";
      for (const text of ["[]", "- skip", "skip"]) await more(text, noMap);
      await more("checkout: {skip: true", ": line 1, column 22: Flow map [^<]*");
      await more("a: 1\na: 2", ": line 2, column 1: has the key a twice");
      await more(
        `a: ${"x".repeat(16 * 1024)}`,
        " are not valid JSON, and YAML of more than 16 KB is not read",
      );
      await more(`a: ${"[".repeat(200)}`, ": .*");
      await more(`{"a": ${"[".repeat(200)}${"]".repeat(200)}}`, " are nested too deeply");
    });
  });

  describe("its buttons", () => {
    const three = {
      rows: "3",
      "step-0-command": "a",
      "step-1-kind": "wait",
      "step-2-command": "c",
      "step-2-label": "C",
    };
    const press = async (button: string, given: Record<string, string> = three) => {
      const answer = await pages.asBob.post(newPath, fields({ name: "Unsaved", ...given, do: button }));
      assert.equal(answer.status, 200, answer.text);
      const values = valuesOf(answer);
      assert.equal(values.name, "Unsaved");
      const kinds = Array.from({ length: Number(values.rows) }, (_, index) =>
        values[`step-${index}-kind`] === "wait" ? "wait" : values[`step-${index}-command`],
      );
      return { answer, kinds, values };
    };

    it("add, remove and move rows without saving", async () => {
      assert.deepEqual((await press("add")).kinds, ["a", "wait", "c", ""]);
      assert.deepEqual((await press("add wait")).kinds, ["a", "wait", "c", "wait"]);
      assert.deepEqual((await press("remove 1")).kinds, ["a", "c"]);
      assert.deepEqual((await press("up 2")).kinds, ["a", "c", "wait"]);
      assert.deepEqual((await press("down 0")).kinds, ["wait", "a", "c"]);
      assert.deepEqual((await press("up 0")).kinds, ["a", "wait", "c"]);
      assert.deepEqual((await press("down 2")).kinds, ["a", "wait", "c"]);
      assert.equal((await press("up 2")).values["step-1-label"], "C");
      await assert.rejects(find("unsaved"));
    });

    it("turn rows into JSON and back", async () => {
      const more = { ...three, "step-0-more": '{"parallelism": 2}' };
      const { values } = await press("json", more);
      assert.deepEqual(JSON.parse(values.steps ?? ""), [
        { parallelism: 2, command: "a" },
        { type: "wait" },
        { label: "C", command: "c" },
      ]);

      const { rows: _, ...rest } = fields({ name: "Unsaved" });
      const back = await pages.asBob.post(newPath, { ...rest, steps: values.steps ?? "", do: "rows" });
      const again = valuesOf(back);
      assert.deepEqual(
        [again.rows, again["step-0-command"], again["step-1-kind"], again["step-2-label"]],
        ["3", "a", "wait", "C"],
      );
      assert.equal(again["step-0-more"], "parallelism: 2", "as the example beside it");
    });

    it("keep JSON that no row can show", async () => {
      const { rows: _, ...rest } = fields({ name: "Unsaved" });
      const answer = await pages.asBob.post(newPath, { ...rest, steps: "[oops", do: "rows" });
      assertRefused(answer, "Steps are not valid JSON.");
      assert.equal(valuesOf(answer).steps, "[oops");
    });

    it("make no rows of no steps at all", async () => {
      const { rows: _, ...rest } = fields({ name: "Unsaved" });
      const answer = await pages.asBob.post(newPath, { ...rest, do: "rows" });
      assertRefused(answer, "Steps can't be blank.");
    });
  });

  describe("that is saved", () => {
    it("changes nothing if it is sent as it came", async () => {
      const steps: Step[] = [
        {
          key: "k",
          label: "All",
          command: "a\n b",
          agents: { queue: "default" },
          env: { A: "x y", B: "" },
          timeout_in_minutes: 5,
          soft_fail: [1],
          parallelism: 3,
          plugins: [{ "docker#v5": { image: "node" } }],
          retry: { manual: { allowed: false, permit_on_passed: true } },
        },
        { type: "wait", continue_on_failure: true, depends_on: [], others: { blocked: true } },
        { command: "b", env: { LINES: "1\n2" } },
        { command: "c", agents: { queue: "default", os: ["a", "b"], gpu: "*" }, others: { colour: [] } },
        { command: "d", agents: { os: "linux" }, matrix: { setup: ["a"] }, depends_on: [{ step: "k" }] },
        { command: "", label: "None" },
        { command: "e", env: { BLANKS: "a\n\n" } },
        { command: "f", env: { MARK: "\ufeffx\n" }, plugins: [{ merge: { "<<": { a: "1e3" } } }] },
      ];
      const { slug } = await make("Unchanged", steps);
      await updatePipeline(pages.services, pages.actor, await find(slug), {
        description: "Two\nlines",
        repository: "https://example.com/x.git",
        environment: { C: "1\n2" },
      });
      const before = await find(slug);
      const page = await pages.asBob.get(`${at}/pipelines/${slug}/edit`);
      const { csrf_token: _, ...values } = valuesOf(page);

      const answer = await pages.asBob.post(`${at}/pipelines/${slug}/edit`, {
        ...values,
        cluster: before.clusterId,
        environment_choice: "keep",
      });

      assert.equal(
        answer.headers.get("location"),
        `${at}/pipelines/${slug}?notice=pipeline_saved`,
        answer.text,
      );
      assert.deepEqual(await find(slug), before);
    });

    it("gets the address that git clones", async () => {
      const { slug } = await make("Moved");
      const save = (repository: string) =>
        pages.asBob.post(`${at}/pipelines/${slug}/edit`, {
          ...fields({ name: "Moved", repository }),
          environment_choice: "keep",
        });

      const corrected = await save("gitlab.com/acme/tools/moved/-/blob/main/README.md");
      assertRefused(
        corrected,
        "Repository is corrected to https://gitlab.com/acme/tools/moved, which git can clone: check it, and send the form again.",
      );
      await save(valuesOf(corrected).repository ?? "");

      assert.equal((await find(slug)).repository, "https://gitlab.com/acme/tools/moved");
    });

    it("gets the address that git clones from a host that the organization has connected", async () => {
      const { slug } = await make("Connected");
      const host = { type: "gitlab_self_managed", url: "https://code.example.com", token: "t" };
      await createConnection(pages.services, pages.actor, newConnection.parse(host));

      const corrected = await pages.asBob.post(`${at}/pipelines/${slug}/edit`, {
        ...fields({ name: "Connected", repository: "https://code.example.com/acme/app/-/tree/main" }),
        environment_choice: "keep",
      });

      assert.equal(valuesOf(corrected).repository, "https://code.example.com/acme/app");
    });

    it("replaces variables only when told, and shows no value", async () => {
      const { slug } = await make("Variables");
      const { services, actor } = pages;
      await updatePipeline(services, actor, await find(slug), { environment: { TOKEN: "hidden-value" } });
      const page = await pages.asBob.get(`${at}/pipelines/${slug}/edit`);
      assert.match(page.text, /<code>TOKEN<\/code>/);
      assert.doesNotMatch(page.text, /hidden-value/);
      const given = fields({ name: "Variables", environment_choice: "replace", environment: "NEW=1" });
      assert.equal((await pages.asBob.post(`${at}/pipelines/${slug}/edit`, given)).status, 303);
      assert.deepEqual(environmentOfPipeline(services.cipher, await find(slug)), { NEW: "1" });
    });

    it("asks for variables at once where there are none, and leaves it so for a blank field", async () => {
      const { slug } = await make("Without variables");
      const edit = `${at}/pipelines/${slug}/edit`;
      const { text } = await pages.asBob.get(edit);
      assert.match(text, /name="environment_choice" value="first"/);
      assert.doesNotMatch(text, /Keep as they are/);
      const save = async (environment: string) => {
        const given = fields({ name: "Without variables", environment_choice: "first", environment });
        assert.equal((await pages.asBob.post(edit, given)).status, 303);
        return find(slug);
      };

      const { environmentSealed } = await save(" ");
      assert.equal(environmentSealed, null);
      assert.deepEqual(environmentOfPipeline(pages.services.cipher, await save("FIRST=1")), { FIRST: "1" });
      const withoutField = fields({ name: "Renamed", environment_choice: "first" });
      assert.equal((await pages.asBob.post(edit, withoutField)).status, 303);
      const renamed = await find(slug);
      assert.equal(renamed.name, "Renamed");
      assert.deepEqual(environmentOfPipeline(pages.services.cipher, renamed), { FIRST: "1" });
    });

    it("replaces no variables that were added while the form for the first ones was open", async () => {
      const { slug } = await make("Both");
      const { services, actor } = pages;
      await updatePipeline(services, actor, await find(slug), { environment: { THEIRS: "1" } });
      const save = (choice: string, environment: string) => {
        const given = fields({ name: "Both", environment_choice: choice, environment });
        return pages.asBob.post(`${at}/pipelines/${slug}/edit`, given);
      };

      const refused = await save("first", "OURS=1");

      assert.equal(refused.status, 422);
      assert.match(refused.text, /added meanwhile[\s\S]*<code>THEIRS<\/code>[\s\S]*OURS=1/);
      assert.deepEqual(environmentOfPipeline(services.cipher, await find(slug)), { THEIRS: "1" });
      assert.equal((await save("first", "THEIRS=1")).status, 303, "the same form, sent twice");
      assert.equal((await save("replace", "OURS=1")).status, 303);
      assert.deepEqual(environmentOfPipeline(services.cipher, await find(slug)), { OURS: "1" });
    });

    it("replaces no variables that are added between the check of the form and its transaction", async (t) => {
      const { slug } = await make("At once");
      const { services, actor } = pages;
      const addFirst: typeof services.db.transaction = async (work) => {
        await updatePipeline(services, actor, await find(slug), { environment: { THEIRS: "1" } });
        return services.db.transaction(work);
      };
      t.mock.method(services.db, "transaction", addFirst, { times: 1 });

      const given = fields({ name: "At once", environment_choice: "first", environment: "OURS=1" });
      const refused = await pages.asBob.post(`${at}/pipelines/${slug}/edit`, given);

      assert.equal(refused.status, 422);
      assert.deepEqual(environmentOfPipeline(services.cipher, await find(slug)), { THEIRS: "1" });
    });

    it("has many values as JSON, which costs little to write", async () => {
      const plugins = [{ many: { list: Array.from({ length: 900 }, () => 1) } }];
      const step = { command: "a", plugins };
      const { slug } = await make("Many values", [step, step, step]);
      const page = await pages.asBob.get(`${at}/pipelines/${slug}/edit`);
      assert.deepEqual(JSON.parse(valuesOf(page)["step-0-more"] ?? ""), { plugins });
    });

    it("keeps each of more steps than a page has rows", async () => {
      const { slug, steps } = await make(
        "Long list",
        Array.from({ length: 150 }, () => ({ command: "a" })),
      );
      const page = await pages.asBob.get(`${at}/pipelines/${slug}/edit`);
      const { csrf_token: _, ...values } = valuesOf(page);
      const sent = { ...values, name: "Longer list", environment_choice: "keep" };
      const saved = await pages.asBob.post(`${at}/pipelines/${slug}/edit`, sent);
      assert.equal(saved.status, 303, saved.text);
      assert.deepEqual((await find(slug)).steps, steps);

      const asRows = await pages.asBob.post(`${at}/pipelines/${slug}/edit`, { ...sent, do: "rows" });
      assertRefused(asRows, "More than 100 steps can be edited as YAML and JSON only.");
    });

    it("keeps steps that are too large for a page", async () => {
      const { slug, steps } = await make("Large", [{ command: "x".repeat(60_000) }]);
      const page = await pages.asBob.get(`${at}/pipelines/${slug}/edit`);
      assert.match(page.text, /too large for this page/);
      const { rows: _, ...rest } = fields({ name: "Larger" });
      assert.equal((await pages.asBob.post(`${at}/pipelines/${slug}/edit`, rest)).status, 303);
      const saved = await find(slug);
      assert.deepEqual([saved.name, saved.steps], ["Larger", steps]);
    });

    it("has at most 300 KB with as many steps as can be", async () => {
      const { slug } = await make(
        "Many",
        Array.from({ length: 100 }, () => ({ label: "l", command: "x".repeat(350) })),
      );
      const page = await pages.asBob.get(`${at}/pipelines/${slug}/edit`);
      assert.match(page.text, /step-99-command/);
      assert.ok(page.text.length < 300 * 1024, `${page.text.length}`);
    });

    it("is not found by others, and deletes after a confirmation", async () => {
      const trigger = await pages.acme.trigger({}, (await make("Doomed")).slug);
      const path = `${at}/pipelines/doomed`;
      const globex = await pages.visitor(pages.bob);
      for (const page of ["edit", "delete"])
        assert.equal((await globex.get(`/organizations/globex/pipelines/doomed/${page}`)).status, 404);
      assert.equal((await pages.asBob.get(`${at}/pipelines/nope/edit`)).status, 404);
      await buildWebhook(pages, trigger.path, "{}");

      const typed = { typed: " Doomed " };
      for (const wrong of ["", "doomed", "Doomed?"])
        assertRefused(
          await pages.asBob.post(`${path}/delete`, { typed: wrong }),
          "Nothing was deleted. Type the name Doomed to confirm.",
        );
      assertRefused(
        await pages.asBob.post(`${path}/delete`, typed),
        `Pipeline has 1 unfinished jobs. <a href="${path}">Wait for its builds, or cancel them</a>.`,
      );
      await pages.asBob.post(`${path}/builds/1/cancel`);
      assert.match((await pages.asBob.get(`${path}/delete`)).text, /Delete the pipeline Doomed\?/);
      const answer = await pages.asBob.post(`${path}/delete`, typed);

      assert.equal(answer.headers.get("location"), `${at}/pipelines?notice=pipeline_deleted`);
      assert.equal((await pages.asBob.get(path)).status, 404);
    });
  });
});
