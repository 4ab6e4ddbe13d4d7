import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Heard, wants, wantsFixedOnly } from "../../shared/notifications/matching.ts";
import { heardEvents } from "../../shared/notifications/settings.ts";
import type { NotificationService } from "../../shared/notifications/store.ts";
import type { BuildState, NewsEvent } from "../../shared/vocabulary.ts";

const [pipeline, cluster] = ["pipeline-1", "cluster-1"];

function service(given: Partial<NotificationService> = {}): NotificationService {
  const { provider = "webhook", settings = { events: ["build.finished"] }, buildStates = [] } = given;
  const events = heardEvents(provider, settings ?? {}, buildStates ?? []);
  const all = { enabled: true, scope: "all", scopeIds: null, branchConfiguration: null };
  return { ...all, provider, settings, buildStates, events, ...given } as NotificationService;
}

function heard(event: NewsEvent, state: BuildState = "passed", branch = "main"): Heard {
  return { event, clusterId: cluster, build: { pipelineId: pipeline, branch, state } };
}

const chat = (...buildStates: string[]) => service({ provider: "slack", settings: {}, buildStates });

describe("the news that a service wants", () => {
  it("are those of its events, where a blocked build is one that finished", () => {
    const finished = service();
    assert.ok(wants(finished, heard("build.finished", "failed")));
    assert.ok(wants(finished, heard("build.blocked", "blocked_passed")));
    for (const event of ["build.scheduled", "build.running", "build.changed", "job.finished"] as const)
      assert.equal(wants(finished, heard(event)), false, event);
    const jobs = service({ settings: { events: ["job.started", "ping"] } });
    assert.ok(wants(jobs, heard("job.started", "running")));
    assert.equal(wants(jobs, heard("build.finished")), false);
    assert.equal(wants(service({ enabled: false }), heard("build.finished")), false);
  });

  it("are of the pipelines and clusters of its scope", () => {
    const ofPipeline = (id: string) => service({ scope: "some_projects", scopeIds: ["other", id] });
    const ofCluster = (id: string) => service({ scope: "some_clusters", scopeIds: [id] });
    assert.ok(wants(ofPipeline(pipeline), heard("build.finished")));
    assert.equal(wants(ofPipeline("pipeline-2"), heard("build.finished")), false);
    assert.ok(wants(ofCluster(cluster), heard("build.finished")));
    assert.equal(wants(ofCluster(pipeline), heard("build.finished")), false);
    assert.equal(wants(service({ scope: "some_projects", scopeIds: null }), heard("build.finished")), false);
  });

  it("are of agents by their cluster, and never by a pipeline or branch", () => {
    const agent: Heard = { event: "agent.lost", clusterId: cluster };
    const settings = { events: ["agent.lost"] };
    assert.ok(wants(service({ settings, branchConfiguration: "main" }), agent));
    assert.ok(wants(service({ settings, scope: "some_clusters", scopeIds: [cluster] }), agent));
    assert.equal(wants(service({ settings, scope: "some_clusters", scopeIds: ["other"] }), agent), false);
    assert.equal(wants(service({ settings, scope: "some_projects", scopeIds: [pipeline] }), agent), false);
  });

  it("are of branches that match", () => {
    for (const [patterns, branch, isWanted] of [
      ["main release/*", "release/1.0", true],
      ["main release/*", "feature", false],
      ["!main", "main", false],
      ["!main", "feature", true],
      ["", "feature", true],
    ] as const)
      assert.equal(
        wants(service({ branchConfiguration: patterns }), heard("build.finished", "passed", branch)),
        isWanted,
        `${patterns} ${branch}`,
      );
  });

  it("of a chat are of its states", () => {
    for (const [state, event, build] of [
      ["build_passed", "build.finished", "passed"],
      ["build_failed", "build.finished", "failed"],
      ["build_canceled", "build.finished", "canceled"],
      ["build_blocked", "build.blocked", "blocked_passed"],
      ["build_failing", "build.failing", "failing"],
      ["job_activated", "job.activated", "running"],
    ] as const) {
      assert.ok(wants(chat(state), heard(event, build)), state);
      assert.equal(wants(chat("build_canceled", "build_failing"), heard("build.finished", "passed")), false);
    }
    assert.equal(wants(chat("build_passed", "build_failed"), heard("build.finished", "not_run")), false);
    assert.equal(wants(chat("build_passed"), heard("build.finished", "running")), false, "it was retried");
    assert.equal(wants(chat("build_passed"), heard("job.finished")), false);
    assert.equal(wants(chat(), heard("build.finished")), false);
  });

  it("of a chat that wants fixed builds alone are looked at", () => {
    const passed = heard("build.finished", "passed");
    assert.ok(wants(chat("build_fixed"), passed));
    assert.ok(wantsFixedOnly(chat("build_fixed"), passed));
    assert.equal(wantsFixedOnly(chat("build_fixed", "build_passed"), passed), false);
    assert.equal(
      wantsFixedOnly(chat("build_fixed", "build_failed"), heard("build.finished", "failed")),
      false,
    );
    assert.equal(wantsFixedOnly(service(), passed), false);
  });
});
