// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of pipelines
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseConfiguration } from "../../../shared/pipelines/configuration/parse.ts";
import { storedPipeline, uploadedPipeline } from "../../../shared/pipelines/pipeline-document.ts";
import { ineffectiveMembers, warningsOf } from "../../../shared/pipelines/warnings.ts";
import { writeSteps } from "../../../shared/pipelines/written-steps.ts";
import { isCommandStep } from "../../../shared/vocabulary.ts";

const command = "make";

function read(notify: unknown) {
  const { data, error } = uploadedPipeline.safeParse({ steps: [], notify });
  return error ? error.issues.map(({ message }) => message) : data?.notify;
}

function readStep(notify: unknown) {
  const { data, error } = uploadedPipeline.safeParse({ steps: [{ command, notify }] });
  if (error) return error.issues.map(({ message }) => message);
  const [step] = data?.steps ?? [];
  return step && isCommandStep(step) ? step.notify : undefined;
}

function reasonsOf(notify: unknown) {
  const data = uploadedPipeline.parse({ steps: [], notify });
  return warningsOf(data.steps, ineffectiveMembers(data.others)).map(({ reason }) => reason);
}

describe("the notify of a document", () => {
  it("has each documented form", () => {
    const given = [
      { email: "dev@acme.example.com", if: 'build.state == "failed"' },
      { webhook: "https://hooks.example.com/x?y=1" },
      { slack: "#general" },
      { slack: { channels: ["acme#general", "@ada", "C0B1SRLV43S"], message: "Look!" } },
      { slack: "acme@ada", if: "build.state == failed || pipeline.started_passing" },
      { slack: "#general", if: "build.fixed" },
      { basecamp_campfire: "https://3.basecamp.com/1/integrations/x/buckets/1/chats/1/lines" },
      { pagerduty_change_event: "636d22Yourc0418Key3b49eee3e8" },
      { github_commit_status: { context: "ci", blocked_builds_as_pending: true } },
      { github_check: { name: "Lint", output: { title: "T", annotations: [{ path: "a" }] } } },
    ];
    assert.deepEqual(read(given), given);
  });

  it("has looser forms, as YAML and variables make them", () => {
    assert.deepEqual(read(["github_commit_status", "github_check"]), [
      { github_commit_status: {} },
      { github_check: {} },
    ]);
    assert.deepEqual(read([{ github_commit_status: null }, { github_check: true }]), [
      { github_commit_status: {} },
      { github_check: {} },
    ]);
    assert.deepEqual(
      read([
        { github_commit_status: null, context: "ci", blocked_builds_as_pending: true },
        { github_commit_status: null, context: "other", if: "true" },
        { github_commit_status: { context: "own" }, context: "beside" },
      ]),
      [
        { github_commit_status: { context: "ci", blocked_builds_as_pending: true } },
        { github_commit_status: { context: "other" }, if: "true" },
        { github_commit_status: { context: "own" } },
      ],
    );
    assert.deepEqual(read({ slack: "#a" }), [{ slack: "#a" }]);
    assert.deepEqual(read([[{ slack: "#a" }], null]), [{ slack: "#a" }]);
    assert.deepEqual(read([{ slack: ["#a", null, "#b"] }]), [{ slack: { channels: ["#a", "#b"] } }]);
    assert.deepEqual(read([{ slack: { channels: "#a", message: "" } }]), [{ slack: { channels: ["#a"] } }]);
    assert.deepEqual(read([{ email: "a@example.com", slack: "#a", if: true }]), [
      { email: "a@example.com", if: "true" },
      { slack: "#a", if: "true" },
    ]);
    assert.deepEqual(read([{ slack: "#a", if: " " }]), [{ slack: "#a" }]);
    for (const none of [null, "", []]) assert.equal(read(none), undefined);
  });

  it("is refused if an entry is wrong, with its place", () => {
    for (const [given, message] of [
      [7, "notify: entries must be objects"],
      [[7], "notify: entries must be objects"],
      [[{}], "notify: the entry names nobody"],
      [[{ if: "true" }], "notify: the entry names nobody"],
      [[{ email: "ada" }], "notify: email must be one email address"],
      [[{ email: "a@example.com, b@example.com" }], "notify: email must be one email address"],
      [[{ email: ["a@example.com"] }], "notify: email must be text"],
      [
        [{ webhook: "ftp://example.com" }],
        "notify: webhook must be an address that begins with https:// or http://, without a user name",
      ],
      [
        [{ basecamp_campfire: "https://ada:secret@example.com" }],
        "notify: basecamp_campfire must be an address that begins with https:// or http://, without a user name",
      ],
      [
        [{ slack: "two words" }],
        "notify: slack must name channels: #name, workspace#name, @name, workspace@name or an id",
      ],
      [[{ slack: { channels: ["#a"], text: "b" } }], "notify: slack has channels and message"],
      [[{ slack: { channels: Array(21).fill("#a") } }], "notify: channels can be 20 at most"],
      [
        [{ slack: { channels: ["#a"], message: "x".repeat(3001) } }],
        "notify: message is too long (maximum is 3,000 characters)",
      ],
      [
        [{ pagerduty_change_event: "a b" }],
        "notify: pagerduty_change_event must be the key of an integration",
      ],
      [[{ github_commit_status: "x" }], "notify: github_commit_status must be an object"],
      [[{ slack: "#a", if: {} }], "notify: if must be text"],
      [[{ slack: "#a", if: "build.nope" }], /^notify\[0\]\.if: Unknown name build\.nope/],
      [
        [{ slack: "#a", if: "step.key == 'a'" }],
        "notify[0].if: step.key cannot be used here, at line 1, column 1",
      ],
      [Array(51).fill({ slack: "#a" }), "notify can have 50 entries at most"],
      [[{ irc: "x".repeat(17_000) }], "notify is larger than 16 KB"],
      [[{ slack: "#a\0" }], "notify must be text without NUL, nested at most 100 levels"],
    ] as const) {
      const [found] = read(given) as string[];
      if (typeof message === "string") assert.equal(found, message);
      else assert.match(found ?? "", message);
    }
    const parsed = parseConfiguration('steps: []\nnotify:\n  - slack: "#a"\n  - email: ada\n');
    assert.deepEqual("problems" in parsed && parsed.problems.map(({ message }) => message), [
      "configuration: line 4, column 5: notify: email must be one email address",
    ]);
  });

  it("leaves to its build what a variable names", () => {
    const given = [{ email: "$OWNER" }, { webhook: "${HOOK}" }, { pagerduty_change_event: "$$KEY" }];
    assert.deepEqual(read(given), given);
  });

  it("keeps parts that nothing sends, and says why", () => {
    const given = ["slack", { irc: "#a", if: "true" }, { email: "" }, { slack: { channels: [] } }];
    assert.equal(read(given), undefined);
    assert.deepEqual(reasonsOf(given), [
      "slack names nobody",
      'Nothing is sent to "irc", which is no kind of notice here',
      "email names nobody",
    ]);
  });

  it("may ask for the state of the build and for its turn", () => {
    const given = [{ slack: "#a", if: "build.state == 'failed' || pipeline.started_passing" }];
    assert.deepEqual(read(given), given);
  });
});

describe("the notify of a step", () => {
  it("has the kinds of steps, of commands and groups", () => {
    const given = [{ slack: "#a", if: "step.outcome == 'hard_failed'" }, { github_check: { name: "a" } }];
    assert.deepEqual(readStep(given), given);
    const data = uploadedPipeline.parse({ steps: [{ group: "G", notify: given, steps: [{ command }] }] });
    assert.deepEqual((data.steps[0] as { notify?: unknown }).notify, given);
  });

  it("cannot ask for the state of the build", () => {
    assert.deepEqual(readStep([{ slack: "#a", if: "build.state == 'failed'" }]), [
      "notify[0].if: build.state cannot be used here, at line 1, column 1",
    ]);
  });

  it("is written as it can be sent again, with what nothing sends", () => {
    const steps = storedPipeline.parse({
      steps: [{ command, notify: ["github_check", { slack: "#a", irc: "b" }, { email: "a@example.com" }] }],
    }).steps;
    const written = JSON.parse(JSON.stringify(writeSteps(steps)));
    assert.deepEqual(written[0].notify, [
      { github_check: {} },
      { slack: "#a" },
      { irc: "b" },
      { email: "a@example.com" },
    ]);
    assert.deepEqual(storedPipeline.parse({ steps: written }).steps, steps);
  });

  it("that was stored before notices were read is a warning", () => {
    const others = { notify: [{ slack: "#a" }] };
    assert.deepEqual(warningsOf([{ command, others }]), [
      {
        step: "steps[0]",
        member: "notify",
        reason: "It was stored before notices were sent: save the steps again",
      },
    ]);
  });
});
