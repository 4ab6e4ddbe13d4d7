import assert from "node:assert/strict";
import { it } from "node:test";
import { declaredSettings } from "../../../shared/sources/settings.ts";
import { describeWorld } from "../../helpers/databases.ts";
import { openProviderApi } from "./provider-api.ts";

/** As the hosted service documents an answer of a new pipeline. */
const documented = {
  trigger_mode: "code",
  build_pull_requests: true,
  pull_request_branch_filter_enabled: false,
  skip_builds_for_existing_commits: false,
  skip_pull_request_builds_for_existing_commits: true,
  build_pull_request_ready_for_review: false,
  build_pull_request_labels_changed: false,
  build_pull_request_forks: false,
  prefix_pull_request_fork_branch_names: true,
  build_branches: true,
  build_tags: false,
  cancel_deleted_branch_builds: false,
  publish_commit_status: true,
  publish_commit_status_per_step: false,
  separate_pull_request_statuses: false,
  publish_blocked_as_pending: false,
  use_step_key_as_commit_status: false,
  filter_enabled: false,
  repository: "acme/app",
};

describeWorld("provider_settings", openProviderApi, (api) => {
  it("are the documented ones of a new pipeline", async () => {
    const { settings } = (await api.hooked()).provider;
    for (const [name, value] of Object.entries(documented)) assert.deepEqual(settings[name], value, name);
  });

  it("are taken with the pipeline, and changed one by one", async () => {
    const given = { build_tags: true, filter_enabled: true, filter_condition: 'build.branch == "main"' };
    const made = await api.hooked({ provider_settings: given });
    const settingsOf = async () => (await api.shown(made)).provider.settings;
    assert.deepEqual(pick(await settingsOf(), given), given);

    await api.patch(made, { provider_settings: { build_branches: false, build_tags: null } });
    assert.deepEqual(pick(await settingsOf(), { ...given, build_branches: false }), {
      ...given,
      build_branches: false,
    });
    await api.patch(made, { provider_settings: { build_tags: false, filter_condition: null } });
    const { build_tags, filter_condition } = await settingsOf();
    assert.deepEqual([build_tags, filter_condition], [false, null]);
    await api.patch(made, { name: "Renamed", provider_settings: null });
    assert.equal((await settingsOf()).build_branches, false);
  });

  it("take back what was answered", async () => {
    for (const repository of [
      "git@github.com:acme/app.git",
      "https://gitlab.com/acme/app.git",
      "https://bitbucket.org/acme/app",
      "https://codeberg.org/acme/app",
    ]) {
      const made = await api.hooked({ repository });
      const { settings } = made.provider;
      const changed = await api.patch(made, { provider_settings: settings });
      assert.deepEqual(changed.provider.settings, settings, repository);
    }
  });

  it("store what is not the default", async () => {
    const made = await api.hooked({ provider_settings: { build_branches: true, build_tags: false } });
    const { db } = api.world.services;
    const stored = async () =>
      (await db.select().from(db.tables.pipelines)).find(({ id }) => id === made.id)?.providerSettings;
    assert.equal(await stored(), null);
    await api.patch(made, { provider_settings: { build_tags: true } });
    assert.deepEqual(await stored(), { build_tags: true });
    await api.patch(made, { provider_settings: { build_tags: false } });
    assert.equal(await stored(), null);
  });

  it("name what is wrong, in one answer", async () => {
    const wrong: [object | string, string][] = [
      [{ build_tags: "yes" }, "Build tags must be true or false"],
      [{ trigger_mode: "deployment" }, "Trigger mode must be code or none"],
      [{ trigger_mode: "fork" }, "Trigger mode must be code or none"],
      [{ build_everything: true }, "Provider settings has no member named build_everything"],
      [{ filter_condition: "build.branch ==" }, "Filter condition: "],
      [{ filter_condition: "build.brunch == 1" }, "Filter condition: "],
      [{ filter_condition: 7 }, "Filter condition must be text"],
      [{ filter_condition: "a".repeat(8193) }, "Filter condition is too long"],
      [{ pull_request_branch_filter_configuration: "a".repeat(4097) }, "is too long"],
      [{ build_release_published: true }, "Builds of releases are not available"],
      ["all", "Provider settings must be an object"],
      [[], "Provider settings must be an object"],
    ];
    const made = await api.hooked();
    for (const [provider_settings, reason] of wrong) {
      const body = { provider_settings };
      const answer = await api.send("PATCH", `/pipelines/${made.slug}`, { body });
      assert.equal(answer.status, 422, JSON.stringify(provider_settings).slice(0, 100));
      assert.ok(answer.body.message.includes(reason), answer.text);
    }
    const { status, body } = await api.send("POST", "/pipelines", {
      body: {
        repository: "git@github.com:acme/app.git",
        steps: [],
        name: "",
        provider_settings: { x: true },
      },
    });
    assert.equal(status, 422);
    assert.match(body.message, /Name can't be blank.*Provider settings has no member named x/);
  });

  it("are those of the repository that comes with them", async () => {
    const { slug } = await api.hooked({
      repository: null,
      provider_settings: { build_merge_group_checks_requested: true },
    });
    const at = `/pipelines/${slug}`;
    const queued = { build_merge_group_checks_requested: true };
    const gitlab = { repository: "https://gitlab.com/acme/app.git", provider_settings: queued };
    const refused = await api.send("PATCH", at, { body: gitlab });
    assert.equal(refused.status, 422);
    assert.match(refused.body.message, /is not available for this provider/);
    const github = { repository: "https://github.com/acme/app.git", provider_settings: queued };
    const { provider } = (await api.send("PATCH", at, { body: github })).body;
    assert.equal(provider.settings.build_merge_group_checks_requested, true);
    const { settings } = (await api.patch({ slug }, { repository: "https://gitlab.com/acme/app.git" }))
      .provider;
    assert.ok(!("build_merge_group_checks_requested" in settings));
  });

  it("are all described", async () => {
    const { components } = (await (await fetch(`${api.world.url}/openapi.json`)).json()) as {
      components: { schemas: Record<string, { properties: { settings: { properties: object } } }> };
    };
    const described = components.schemas.PipelineProvider?.properties.settings.properties ?? {};
    for (const name of Object.keys(declaredSettings)) assert.ok(name in described, name);
  });
});

function pick(from: Record<string, unknown>, names: object): Record<string, unknown> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, from[name]]));
}
