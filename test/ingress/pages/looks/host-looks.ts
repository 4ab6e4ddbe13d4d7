import { createBuilds } from "../../../../shared/builds/making/builds.ts";
import type { BuildOptions } from "../../../../shared/db/schema/builds.ts";
import { createPipeline, defaultStep } from "../../../../shared/pipelines/pipelines.ts";
import { buildRequest } from "../../../helpers/api.ts";
import type { Pages } from "../../../helpers/pages.ts";
import type { Look } from "./every-page.ts";

const list = "/organizations/acme/pipelines/hosted";
const pages = {
  "a build, of a pull request": 1,
  "a build, of a fork": 2,
  "a build, of a tag": 3,
  "a build, of a merge queue": 4,
};

export const hostLooks: Look[] = [
  ...Object.entries(pages).map(
    ([name, number]): Look => ({ name, as: "ada", visit: (page) => page.goto(`${list}/builds/${number}`) }),
  ),
  { name: "builds, of a source host", as: "ada", visit: (page) => page.goto(list) },
  {
    name: "builds, of one pull request",
    as: "ada",
    visit: (page) => page.goto(`${list}?pull_request=42`),
  },
];

/** Makes builds as webhooks of a source host do. */
export async function exhibitHosts({ services, clock, acme, ada }: Pages): Promise<void> {
  const { id } = await createPipeline(
    services,
    { organization: acme, userId: ada.id },
    {
      clusterId: acme.cluster.id,
      name: "Hosted",
      repository: "https://github.com/acme/site.git",
      steps: [defaultStep],
    },
  );
  const url = "https://github.com/acme/site/pull/42";
  const title = "Make it faster, also where nobody has looked for years";
  const pull_request = { id: "42", title, author: { username: "ada" }, base_branch: "main", url };
  const compare = "https://github.com/acme/site/compare/a...b";
  const made: [string, string, BuildOptions][] = [
    [title, "topic/faster-also-where-nobody-has-looked", { pull_request, url }],
    [
      title,
      "eve:main",
      { pull_request: { ...pull_request, id: "43", author: { username: "eve" } }, is_fork: true },
    ],
    ["Release", "v1.0.0", { tag: "v1.0.0", url: compare }],
    ["Merge", "queue/main", { merge_queue: { base_branch: "main", base_commit: "d670460" } }],
  ];
  const commit = "d670460b4b4aece5915caf5c68d12f560a9fe3e4";
  const author = { name: "Ada Lovelace", email: "ada@example.com" };
  const requests = made.map(([message, branch, options]) => ({
    ...buildRequest(id),
    ...{ message, branch, options, commit, author },
  }));
  await services.db.transaction((tx) => createBuilds(tx, services, requests, clock.now()));
}
