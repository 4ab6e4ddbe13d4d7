import { eq } from "drizzle-orm";
import type { Page } from "playwright-core";
import type { Actor } from "../../../../shared/accounts/audit.ts";
import { requireOrganization, updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { newId } from "../../../../shared/ids.ts";
import { createPipeline, defaultStep, requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import { askForBulkRebuild } from "../../../../shared/triggers/bulk-rebuilds/ask.ts";
import { createTrigger } from "../../../../shared/triggers/create.ts";
import { listLatestRefused } from "../../../../shared/triggers/deliveries/refused-requests.ts";
import type { NewTrigger } from "../../../../shared/triggers/members.ts";
import type { Trigger } from "../../../../shared/triggers/store.ts";
import { follow, press } from "../../../helpers/browser.ts";
import { eventually, post } from "../../../helpers/http.ts";
import type { Pages } from "../../../helpers/pages.ts";
import type { Look } from "./every-page.ts";
import { exhibitWeek } from "./figures.ts";

const of = (pipeline: string) => `/organizations/globex/pipelines/${pipeline}/triggers`;
const site = of("site");

/** Trigger addresses by type, and those of a bulk rebuild and a refused request. */
type Exhibits = {
  triggers: Record<"webhook" | "github" | "gitlab" | "linear" | "hmac" | "rebuild" | "refused", string>;
};

const fillIn = async (page: Page) => {
  await page.goto(`${site}/new`);
  await page.getByLabel("GitHub").first().check();
  await page.getByLabel("Label").fill("Releases of the design system");
  await page.getByText("More settings").click();
  await page.getByLabel("Environment variables").fill("# for the release\nREGION=eu-central\nchannel");
  await page.getByLabel("Verify deliveries").check();
  await page.getByLabel("Secret", { exact: true }).fill("s3cret");
};
const generated = async (page: Page) => {
  await fillIn(page);
  await press(page, "Generate");
};
const refused = async (page: Page) => {
  await fillIn(page);
  await press(page, "Create trigger");
};
const fillInHmac = async (page: Page) => {
  await page.goto(`${site}/new`);
  await page.getByLabel("HMAC").first().check();
  await page.getByLabel("Label").fill("Artifacts");
};
const created = async (page: Page) => {
  await fillIn(page);
  await page.getByLabel("Environment variables").fill("");
  await press(page, "Create trigger");
};
const createdPlain = async (page: Page) => {
  await page.goto(`${of("documentation")}/new`);
  await page.getByLabel("Webhook", { exact: false }).first().check();
  await page.getByLabel("Label").fill("Nightly");
  await page.getByText("More settings").click();
  await page.getByLabel("Enabled").uncheck();
  await press(page, "Create trigger");
};
const sentTwice = async (page: Page) => {
  await createdPlain(page);
  await follow(page, () => page.reload());
};
const replacing = async (page: Page, { triggers }: Exhibits) => {
  await page.goto(`${triggers.github}/edit`);
  await page.getByLabel("Replace all").check();
};

const triedFilter = async (page: Page, { triggers }: Exhibits) => {
  await page.goto(`${triggers.github}/filter`);
  await page
    .getByLabel("Expression")
    .fill('webhook.payload.ref == "refs/heads/main" || webhook.payload.commits.size() > 0');
  await press(page, "Try");
};

const triedExample = async (page: Page) => {
  await page.goto("/docs/webhooks");
  await page.getByRole("link", { name: "Try it" }).first().click();
  await press(page, "Try");
};

export const triggerLooks: Look<Exhibits>[] = [
  { name: "a filter, tried on an example", as: "ada", visit: triedExample },
  { name: "triggers", as: "ada", visit: (page) => page.goto(site) },
  { name: "triggers, none yet", as: "ada", visit: (page) => page.goto(of("quiet")) },
  { name: "triggers, as many as can be", as: "ada", visit: (page) => page.goto(of("crowded")) },
  { name: "a new trigger", as: "ada", visit: (page) => page.goto(`${site}/new`) },
  { name: "a new trigger, verified", as: "ada", visit: fillIn },
  { name: "a new trigger, hmac", as: "ada", visit: fillInHmac },
  { name: "a new trigger, generated secret", as: "ada", visit: generated },
  { name: "a new trigger, refused", as: "ada", visit: refused },
  { name: "a new trigger, no room", as: "ada", visit: (page) => page.goto(`${of("crowded")}/new`) },
  { name: "a trigger, created and verified", as: "ada", visit: created },
  { name: "a trigger, created and disabled", as: "ada", visit: createdPlain },
  { name: "a trigger, created before", as: "ada", visit: sentTwice },
  {
    name: "editing a trigger",
    as: "ada",
    visit: (page, { triggers }) => page.goto(`${triggers.github}/edit`),
  },
  { name: "a busy trigger", as: "ada", visit: (page, { triggers }) => page.goto(triggers.github) },
  {
    name: "a busy trigger, as a table",
    as: "ada",
    visit: async (page, { triggers }) => {
      await page.goto(triggers.github);
      await page.getByText("As a table").click();
    },
  },
  {
    name: "building deliveries again, of which status",
    as: "ada",
    visit: (page, { triggers }) => page.goto(`${triggers.github}/rebuilds/new`),
  },
  {
    name: "building deliveries again",
    as: "ada",
    visit: (page, { triggers }) => page.goto(`${triggers.github}/rebuilds/new?status=not+run`),
  },
  {
    name: "building deliveries again, refused",
    as: "ada",
    visit: (page, { triggers }) => page.goto(`${triggers.github}/rebuilds/new?status=failed`),
  },
  { name: "deliveries built again", as: "ada", visit: (page, { triggers }) => page.goto(triggers.rebuild) },
  { name: "editing a trigger, new variables", as: "ada", visit: replacing },
  {
    name: "deleting a trigger",
    as: "ada",
    visit: (page, { triggers }) => page.goto(`${triggers.github}/delete`),
  },
  {
    name: "replacing a trigger",
    as: "ada",
    visit: (page, { triggers }) => page.goto(`${triggers.github}/replace`),
  },
  { name: "a filter, tried on 20 deliveries", as: "ada", visit: triedFilter },
  {
    name: "sending a delivery",
    as: "ada",
    visit: (page, { triggers }) => page.goto(`${triggers.github}/send`),
  },
  {
    name: "history of a trigger",
    as: "ada",
    visit: (page, { triggers }) => page.goto(`${triggers.github}/history`),
  },
  {
    name: "a delivery",
    as: "ada",
    visit: async (page, { triggers }) => {
      await page.goto(triggers.github);
      const link = page.locator('main a[href*="/deliveries/"]').first();
      await page.goto((await link.getAttribute("href")) ?? "");
    },
  },
  { name: "a refused request", as: "ada", visit: (page, { triggers }) => page.goto(triggers.refused) },
  ...(["webhook", "github", "gitlab", "linear", "hmac"] as const).map((type) => ({
    name: `setting up a trigger, ${type}`,
    as: "ada" as const,
    visit: (page: Page, { triggers }: Exhibits) => page.goto(`${triggers[type]}/setup`),
  })),
];

/** Creates each type and state, an empty pipeline and a full one. */
export async function exhibitTriggers(pages: Pages): Promise<Exhibits["triggers"]> {
  const { services, ada, url } = pages;
  await updateOrganization(services, "globex", { features: { webhook_filtering: true } });
  const organization = await requireOrganization(services.db, "globex");
  const actor = { organization, userId: ada.id };
  const add = async (slug: string, input: Partial<NewTrigger>) => {
    const pipeline = await requirePipeline(services.db, organization.id, slug);
    return createTrigger(services, actor, pipeline, { type: "webhook", label: "Nightly", ...input });
  };
  const { clusterId } = await requirePipeline(services.db, organization.id, "site");
  for (const name of ["Quiet", "Crowded"])
    await createPipeline(services, actor, { clusterId, name, steps: [defaultStep] });
  for (let made = 0; made < 10; made++) await add("crowded", { label: `Branch office ${made + 1}` });

  const github = await add("site", {
    type: "github",
    label: "Pushes to the repository of the site, and releases of everything that it is made of",
    environment: { REGION: "eu", CHANNEL: "stable", DEPLOY_TOKEN: "x" },
    filter: 'webhook.headers.HTTP_X_GITHUB_EVENT == "push"',
  });
  const linear = await add("site", { type: "linear", label: "Issues", enabled: false, secret: "lin_wh_x" });
  const gitlab = await add("site", { type: "gitlab", label: "Merge requests" });
  const hmac = await add("site", {
    type: "hmac",
    label: "Artifacts",
    secret: "s3",
    prefix: "v1=",
  });
  const webhook = await add("site", { label: "Editors" });
  for (let sent = 0; sent < 20; sent++) {
    const ref = sent % 3 ? "refs/heads/main" : "refs/heads/what-somebody-thought-of-on-a-friday-afternoon";
    const body = sent === 6 ? {} : { ref, ...(sent % 2 && { commits: [] }) };
    const headers = { "X-GitHub-Event": ["push", "pull_request", "release"][sent % 3] ?? "" };
    await post(`${url}/deliver/${github.token}`, JSON.stringify(body), headers);
  }
  await exhibitWeek(pages, github.trigger.id);
  const asked = await addBulkRebuild(pages, actor, github.trigger);
  const at = (made: { trigger: { id: string } }) => `${site}/${made.trigger.id}`;
  return {
    webhook: at(webhook),
    github: at(github),
    gitlab: at(gitlab),
    linear: at(linear),
    hmac: at(hmac),
    rebuild: `${at(github)}/rebuilds/${asked.id}`,
    refused: `${at(hmac)}/refused/${await refuseOne(pages, hmac)}`,
  };
}

/** Half done. */
async function addBulkRebuild({ services }: Pages, actor: Actor, trigger: Trigger) {
  const asked = { id: newId(services.clock.now()), search: { receivedFrom: new Date(0) } };
  const made = await askForBulkRebuild(services, actor, trigger, asked);
  await services.db.transaction(async (tx) => {
    const { bulkRebuilds } = tx.tables;
    const { deliveries } = tx.tables;
    const notRun = { status: "not_run", reason: "filter_mismatch" } as const;
    await tx.update(deliveries).set(notRun).where(eq(deliveries.triggerId, trigger.id));
    await tx.update(bulkRebuilds).set({ total: 4200, built: 1980, skipped: 112, failed: 8 });
  });
  return made;
}

/** Returns the id of a refused request. */
async function refuseOne(
  { services, url }: Pages,
  { trigger, token }: { trigger: { id: string }; token: string },
): Promise<string> {
  const artifact = { name: "bundle", path: `/artifacts/${"0123456789abcdef".repeat(12)}/bundle.tar.gz` };
  const body = JSON.stringify({ action: "published", artifacts: [artifact], sender: "registry" });
  await post(`${url}/deliver/${token}?tenant=globex&key=${"x".repeat(150)}`, body, {
    "X-Signature": "v1=00",
    "X-Request-Trace": "0123456789abcdef".repeat(12),
    Authorization: "Basic eDp5",
  });
  const [kept] = await eventually("the refused request", async () => {
    const found = await listLatestRefused(services, trigger.id);
    return found.length > 0 && found;
  });
  return kept?.id ?? "";
}
