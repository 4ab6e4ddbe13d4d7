import type { Page } from "playwright-core";
import { requireOrganization } from "../../../../shared/accounts/organizations.ts";
import { createPipeline, defaultStep, requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { openWebhook } from "../../../../shared/pipelines/provider/webhook.ts";
import { findWebhook } from "../../../../shared/pipelines/provider/webhook-store.ts";
import { press } from "../../../helpers/browser.ts";
import { post } from "../../../helpers/http.ts";
import type { Pages } from "../../../helpers/pages.ts";
import { signed } from "../../../pipelines/provider/provider-api.ts";
import type { Look } from "./every-page.ts";

const of = (pipeline: string) => `/organizations/globex/pipelines/${pipeline}/provider`;
const at = (path: string) => (page: Page) => page.goto(path);

const created = async (page: Page) => {
  await page.goto("/organizations/globex/new-pipeline");
  await page.getByLabel("Repository").fill("https://github.com/globex/made-of-its-address.git");
  await press(page, "Create pipeline");
};
const wrongFilter = async (page: Page) => {
  await page.goto(`${of("on-github")}/settings`);
  await page.getByLabel(/^Filter:/).fill("build.branch ==");
  await press(page, "Save");
};

export const providerLooks: Look[] = [
  { name: "a provider, no delivery yet", as: "ada", visit: at(of("on-gitlab")) },
  { name: "a provider, with deliveries", as: "ada", visit: at(of("on-github")) },
  { name: "a provider, of a host that is not known", as: "ada", visit: at(of("on-another-host")) },
  { name: "a provider, keys of a new pipeline", as: "ada", visit: created },
  { name: "settings of a provider", as: "ada", visit: at(`${of("on-github")}/settings`) },
  { name: "settings of a provider, refused", as: "ada", visit: wrongFilter },
  { name: "the secret of a provider", as: "ada", visit: at(`${of("on-github")}/secret`) },
  { name: "replacing the keys of a provider", as: "ada", visit: at(`${of("on-github")}/rotate`) },
];

/** Pipelines with repositories at several hosts, one of which has sent pushes. */
export async function exhibitProviders(pages: Pages): Promise<void> {
  const { services } = pages;
  const organization = await requireOrganization(services.db, "globex");
  const actor = { organization, userId: pages.ada.id };
  const { clusterId } = await requirePipeline(services.db, organization.id, "site");
  const add = async (slug: string, repository: string) => {
    const given = { clusterId, name: slug, slug, repository, steps: [defaultStep] };
    const { id } = await createPipeline(services, actor, given);
    const webhook = await findWebhook(services.db, { pipelineId: id });
    return webhook && openWebhook(services, webhook);
  };
  await add("on-gitlab", "git@gitlab.com:globex/app.git");
  await add(
    "on-another-host",
    "git@a-host-with-a-long-name-that-nobody-has-connected.example.com:globex/app.git",
  );
  const { webhookUrl = "", secret } = (await add("on-github", "https://github.com/globex/app.git")) ?? {};
  const send = async (event: string, body: object, key = secret ?? "") => {
    const text = JSON.stringify(body);
    const headers = { "X-GitHub-Event": event, ...signed(key, text) };
    await post(pages.url + new URL(webhookUrl).pathname, text, headers);
  };
  await send("ping", { zen: "Keep it logically awesome." });
  await send("push", {
    ref: "refs/heads/main",
    after: "2".repeat(40),
    repository: { full_name: "globex/app" },
  });
  await send("push", { ref: "refs/heads/main" }, "another secret");
}
