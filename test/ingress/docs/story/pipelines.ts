import { openSender, type Story } from "./chapter.ts";
import { provider } from "./provider.ts";
import { resourcesOf } from "./resources.ts";

const yaml = `# Every page
steps:
  - label: Links
    key: links
    command: npm run links
  - label: Publish
    command: ./publish.sh
    depends_on: links
    if: build.branch == "main"
`;

export async function pipelines(story: Story) {
  const clusterId = story.api.acme.cluster.id;
  const send = openSender(story, story.org);

  const steps = [
    {
      label: "Test",
      command: "npm ci && npm test",
      env: { NODE_ENV: "test" },
      timeout_in_minutes: 30,
      retry: { automatic: { exit_status: -1, limit: 2 } },
      parallelism: 2,
    },
    "wait",
    { label: "Deploy", command: "./deploy.sh", agents: { queue: "default" } },
  ];
  await send("createPipeline", "Steps with a wait between them", {
    json: {
      name: "Site",
      cluster_id: clusterId,
      default_branch: "main",
      repository: "https://git.example.com/site.git",
      env: { CI_CACHE: "on" },
      steps,
    },
    status: 201,
  });
  await send("createPipeline", "Steps in YAML", {
    json: { name: "Docs", cluster_id: clusterId, configuration: yaml },
    status: 201,
  });
  await send("createPipeline", "A step that cannot run as it says", {
    json: { name: "Skipped", cluster_id: clusterId, steps: [{ command: "make", if: "build.color" }] },
    status: 422,
  });
  await send("createPipeline", "YAML that cannot run as it says", {
    json: { name: "Docs", cluster_id: clusterId, configuration: "steps:\n  - label: Links\n" },
    status: 422,
  });
  await send("createPipeline", "No steps", { json: { name: "Empty", cluster_id: clusterId }, status: 422 });
  const site = { slug: "site" };
  await send("updatePipeline", "Another branch", { path: site, json: { default_branch: "trunk" } });
  await send("updatePipelineByPatch", "Other steps", { path: site, json: { steps: steps.slice(0, 1) } });
  await send("getPipeline", "A pipeline", { path: site });
  await send("getPipeline", "No such pipeline", { path: { slug: "nowhere" }, status: 404 });
  await send("archivePipeline", "The archived pipeline", { path: { slug: "docs" } });
  await send("listPipelines", "Archived pipelines", { query: { archived: "true" } });
  await send("unarchivePipeline", "It makes builds again", { path: { slug: "docs" } });
  await send("listPipelines", "A page of pipelines", { query: { page: "1", per_page: "30" } });
  await resourcesOf(story, "/pipelines/:slug", { slug: "site" });
  await send("createPipeline", "The least that a pipeline needs", {
    json: { name: "Old site", cluster_id: clusterId, steps: [{ command: "make" }] },
    status: 201,
  });
  await provider(story);
  await send("deletePipeline", "No answer but the status", { path: { slug: "old-site" }, status: 204 });
}
