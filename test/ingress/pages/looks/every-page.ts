import type { Page } from "playwright-core";
import { createOwnAccessToken } from "../../../../shared/accounts/access-tokens.ts";
import type { Actor } from "../../../../shared/accounts/audit.ts";
import { requireOrganization, updateOrganization } from "../../../../shared/accounts/organizations.ts";
import { annotateByHand } from "../../../../shared/annotations/by-hand.ts";
import { createBuildByHand } from "../../../../shared/builds/making/by-request.ts";
import { cancelBuild } from "../../../../shared/builds/progress/cancel.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import type { Cluster } from "../../../../shared/clusters/store.ts";
import { pauseDispatch } from "../../../../shared/dispatch/pause.ts";
import { newId } from "../../../../shared/ids.ts";
import { unsubscribeTokenOf } from "../../../../shared/notices/unsubscribe.ts";
import { listConnectedApps } from "../../../../shared/oauth/grants.ts";
import { pathTo, patterns } from "../../../../shared/paths.ts";
import { createPipeline, defaultStep, requirePipeline } from "../../../../shared/pipelines/pipelines.ts";
import type { Pipeline } from "../../../../shared/pipelines/store.ts";
import type { NewQueue } from "../../../../shared/queues/members.ts";
import { createQueue, updateQueue } from "../../../../shared/queues/queues.ts";
import { createTrigger } from "../../../../shared/triggers/create.ts";
import { press } from "../../../helpers/browser.ts";
import { buildWebhook, fanOut } from "../../../helpers/builds.ts";
import { addApplication, type Pages } from "../../../helpers/pages.ts";
import { exhibitResources, resourceLooks } from "../../../members/resource-looks.ts";
import { exhibitAgents } from "./agent-looks.ts";
import { exhibitArtifacts } from "./artifact-looks.ts";
import { connectionLooks, exhibitConnections } from "./connection-looks.ts";
import { exhibitQueue, exhibitUse } from "./figures.ts";
import { exhibitHosts, hostLooks } from "./host-looks.ts";
import { exhibitMessages, outboxLooks } from "./outbox-looks.ts";
import { exhibitProviders, providerLooks } from "./provider-looks.ts";
import { exhibitSchedules, scheduleLooks } from "./schedule-looks.ts";
import { exhibitSecrets, secretLooks } from "./secret-looks.ts";
import { exhibitServices, serviceLooks } from "./service-looks.ts";
import { exhibitSteps, stepLooks } from "./step-looks.ts";
import { exhibitTriggers, triggerLooks } from "./trigger-looks.ts";

const scope = "read_user read_organizations read_builds read_clusters write_clusters";
const deviceAgent = "deploy-cli/2.3.1 (linux; x64) node/24.21.0";

export type Exhibits = Awaited<ReturnType<typeof exhibit>>;

export interface Look<On = Exhibits> {
  name: string;
  as: "ada" | "bob" | "nobody";
  visit: (page: Page, exhibits: On) => Promise<unknown>;
}

const at = (path: string) => (page: Page) => page.goto(path);
/** The first page with this in its address to which a page leads. */
const linked = (from: string, part: string) => async (page: Page) => {
  await page.goto(from);
  await page.goto((await page.locator(`main a[href*="${part}"]`).first().getAttribute("href")) ?? "");
};
const unfoldedTimes = async (page: Page) => {
  await page.goto("/organizations/globex/pipelines/passed/builds/1");
  for (const summary of await page.locator(".unfolding > summary").all()) await summary.click();
};
const wrongPassword = async (page: Page) => {
  await page.goto("/sign-in");
  await page.getByLabel("Email address").fill("ada@acme.example.com");
  await page.getByLabel("Password").fill("wrong");
  await press(page, "Sign in");
};
const searchInHead = async (page: Page) => {
  await page.goto("/organizations/globex/pipelines");
  await page.getByRole("combobox", { name: "Search" }).fill("si");
  await page.getByRole("option").first().waitFor();
};
const keysInDialog = async (page: Page) => {
  await page.goto("/organizations/globex/pipelines");
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
};
const openMenu = async (page: Page) => {
  await page.goto("/");
  await page.locator(".account summary").click();
};
const openSwitch = async (page: Page) => {
  await page.goto("/organizations/globex/pipelines");
  await page.locator(".owner summary").click();
};
const wrongCode = async (page: Page) => {
  await page.goto("/oauth/device");
  await page.getByLabel("Code").fill("WRNG-CODE");
  await press(page, "Continue");
};
const unticked = async (page: Page, { reviewed }: Exhibits) => {
  await page.goto(`/oauth/device/${reviewed}/review`);
  await page.getByLabel("acme").check();
  await press(page, "Authorize");
};
const newToken = (organization: string) => async (page: Page) => {
  await page.goto("/user/api-access-tokens/new");
  await page.getByRole("textbox", { name: "Name" }).fill("Nightly report");
  await page.getByRole("combobox", { name: "Organization" }).selectOption({ label: organization });
  await page.locator('input[value="read_builds"]').check();
  await press(page, "Create token");
};

const withEnvironment = async (page: Page) => {
  await page.goto("/organizations/globex/pipelines/site/builds/1?environment=shown");
};
const takenName = async (page: Page) => {
  await page.goto("/organizations/globex/clusters");
  await page.getByLabel("Name").fill("Primary");
  await press(page, "Create cluster");
};
const refusedPipeline = async (page: Page) => {
  await page.goto("/organizations/globex/pipelines/site/edit");
  await page.getByLabel("Name").fill("");
  await page.getByRole("group", { name: "Step 2" }).getByLabel("Queue").fill("nowhere");
  await page.getByRole("group", { name: "Step 2" }).getByLabel("Variables").fill("no equals sign");
  await page.evaluate(() => document.querySelector("main form")?.setAttribute("novalidate", ""));
  await press(page, "Save");
};
const newInvitation = async (page: Page) => {
  await page.goto("/organizations/globex/members");
  await page.getByLabel("For").fill("Carol of the design team");
  await press(page, "Create link");
};
const members = async (page: Page) => {
  await newInvitation(page);
  await page.goto("/organizations/globex/members");
};
const openInvitation = async (page: Page) => {
  await newInvitation(page);
  await page.goto(new URL(await page.getByLabel("Link").inputValue()).pathname);
};
const wrongSettings = async (page: Page) => {
  await page.goto("/organizations/globex/settings");
  await page.getByLabel("Deliveries per hour").fill("many");
  await press(page, "Save");
};
const presetOfScopes = async (page: Page) => {
  await page.goto("/user/api-access-tokens/new");
  await press(page, "Make and watch builds");
};
const stepsAsJson = async (page: Page) => {
  await page.goto("/organizations/globex/pipelines/site/edit");
  await press(page, "JSON");
};
const deletionRefused = async (page: Page, { cluster }: Exhibits) => {
  await page.goto(`${cluster}/delete`);
  await press(page, "Delete");
};
const wrongBuild = async (page: Page) => {
  await page.goto("/organizations/globex/pipelines/site");
  await page.locator("#new-build summary").click();
  await page.getByLabel("Environment variables").fill("no equals sign");
  await press(page, "Create build");
};
const fillToken = async (page: Page, cluster: string, description: string) => {
  await page.goto(cluster);
  await page.locator("#new-token summary").click();
  const field = page.getByRole("textbox", { name: "Description" });
  await field.evaluate((input) => input.removeAttribute("maxlength"));
  await field.fill(description);
  await press(page, "Create token");
};
const wrongToken = (page: Page, { cluster }: Exhibits) => fillToken(page, cluster, "x".repeat(256));
const newRegistrationToken = (page: Page, { emptyCluster }: Exhibits) =>
  fillToken(page, emptyCluster, "Machines in the laboratory");
const hostedShape = async (page: Page, { cluster }: Exhibits) => {
  await page.goto(`${cluster}/queues/new`);
  await page.getByLabel("Key").fill("big machines");
  await page.getByText("More settings").click();
  await page.getByLabel("Agents").selectOption("LINUX_ARM64_16X64");
  await press(page, "Create queue");
};

/** Covers every page in each of its states. */
export const everyPage: Look[] = [
  { name: "the start page", as: "nobody", visit: at("/?notice=signed_out") },
  { name: "sign-in", as: "nobody", visit: at("/sign-in?to=/oauth/device") },
  { name: "sign-in, wrong password", as: "nobody", visit: wrongPassword },
  { name: "a page that does not exist", as: "nobody", visit: at("/nowhere") },
  { name: "the guides", as: "nobody", visit: at("/docs") },
  { name: "a guide", as: "nobody", visit: at("/docs/steps") },
  { name: "a guide with tables", as: "ada", visit: at("/docs/operating") },
  { name: "home", as: "ada", visit: at("/organizations/globex") },
  { name: "home, first steps", as: "ada", visit: at("/organizations/acme") },
  { name: "deliveries", as: "ada", visit: at("/organizations/globex/deliveries") },
  { name: "the menu", as: "ada", visit: openMenu },
  { name: "builds", as: "ada", visit: at("/organizations/globex/builds") },
  {
    name: "builds, searched",
    as: "ada",
    visit: at("/organizations/globex/builds?message=many&from=2020-01-01"),
  },
  { name: "search, empty", as: "ada", visit: at("/organizations/globex/search") },
  { name: "search", as: "ada", visit: at("/organizations/globex/search?q=a") },
  { name: "search, builds", as: "ada", visit: at("/organizations/globex/search?q=%231") },
  { name: "search, nothing found", as: "ada", visit: at("/organizations/globex/search?q=nowhere") },
  { name: "the switch of organizations", as: "ada", visit: openSwitch },
  { name: "code entry", as: "ada", visit: at("/oauth/device") },
  {
    name: "code entry by link",
    as: "ada",
    visit: (page, { linked }) => page.goto(`/oauth/device/${linked}`),
  },
  { name: "code entry, wrong code", as: "ada", visit: wrongCode },
  {
    name: "consent",
    as: "ada",
    visit: (page, { reviewed }) => page.goto(`/oauth/device/${reviewed}/review`),
  },
  { name: "consent, box not ticked", as: "ada", visit: unticked },
  {
    name: "device connected",
    as: "ada",
    visit: (page, { handled }) => page.goto(`/oauth/device/${handled}/result`),
  },
  {
    name: "request denied",
    as: "ada",
    visit: (page, { denied }) => page.goto(`/oauth/device/${denied}/result`),
  },
  {
    name: "already handled",
    as: "ada",
    visit: (page, { handled }) => page.goto(`/oauth/device/${handled}/review`),
  },
  { name: "code not valid", as: "ada", visit: at("/oauth/device/BCDF-GHJK/review") },
  { name: "connected apps", as: "ada", visit: at("/user/connected-apps?notice=access_revoked") },
  { name: "connected apps, none yet", as: "bob", visit: at("/user/connected-apps") },
  { name: "a connected app", as: "ada", visit: (page, { app }) => page.goto(`/user/connected-apps/${app}`) },
  {
    name: "revoking an app everywhere",
    as: "ada",
    visit: linked("/user/connected-apps", "/applications/"),
  },
  {
    name: "revoking an app",
    as: "ada",
    visit: (page, { app }) => page.goto(`/user/connected-apps/${app}/revoke`),
  },
  { name: "tokens", as: "ada", visit: at("/user/api-access-tokens") },
  { name: "tokens, none yet", as: "bob", visit: at("/user/api-access-tokens") },
  {
    name: "revoking a token",
    as: "ada",
    visit: (page, { token }) => page.goto(`/user/api-access-tokens/${token}/revoke`),
  },
  { name: "new token, incomplete", as: "ada", visit: newToken("Choose one") },
  { name: "new token, created", as: "ada", visit: newToken("acme") },
  { name: "password", as: "ada", visit: at("/user/password") },
  { name: "keyboard shortcuts", as: "ada", visit: at("/user/keyboard") },
  { name: "a new organization", as: "ada", visit: at("/new-organization") },
  { name: "search in the head", as: "ada", visit: searchInHead },
  { name: "keys in a dialog", as: "ada", visit: keysInDialog },
  { name: "pipelines", as: "ada", visit: at("/organizations/globex/pipelines") },
  { name: "pipelines, one without builds", as: "bob", visit: at("/organizations/acme/pipelines") },
  { name: "a pipeline", as: "ada", visit: at("/organizations/globex/pipelines/site") },
  {
    name: "a pipeline, searched",
    as: "ada",
    visit: at("/organizations/globex/pipelines/site?state=scheduled&message=editors"),
  },
  {
    name: "a pipeline, nothing found",
    as: "ada",
    visit: at("/organizations/globex/pipelines/site?state=failed"),
  },
  { name: "members", as: "ada", visit: members },
  { name: "removing a member", as: "ada", visit: linked("/organizations/globex/members", "/remove") },
  { name: "members, for a member", as: "bob", visit: at("/organizations/acme/members") },
  { name: "an invitation, created", as: "ada", visit: newInvitation },
  { name: "an invitation, opened", as: "ada", visit: openInvitation },
  { name: "mails about builds", as: "ada", visit: at("/organizations/globex/mails") },
  { name: "ending mails", as: "nobody", visit: (page, { unsubscribe }) => page.goto(unsubscribe) },
  { name: "settings", as: "ada", visit: at("/organizations/globex/settings") },
  { name: "settings, refused", as: "ada", visit: wrongSettings },
  { name: "new token, scopes of a preset", as: "ada", visit: presetOfScopes },
  { name: "editing a pipeline", as: "ada", visit: at("/organizations/globex/pipelines/site/edit") },
  { name: "editing a pipeline, refused", as: "ada", visit: refusedPipeline },
  { name: "editing a pipeline, as JSON", as: "ada", visit: stepsAsJson },
  { name: "history of a pipeline", as: "ada", visit: at("/organizations/globex/pipelines/site/history") },
  { name: "a pipeline, no build yet", as: "bob", visit: at("/organizations/acme/pipelines/web") },
  { name: "a build", as: "ada", visit: at("/organizations/globex/pipelines/site/builds/3") },
  { name: "a build, canceled", as: "ada", visit: at("/organizations/globex/pipelines/site/builds/2") },
  { name: "a build, environment shown", as: "ada", visit: withEnvironment },
  {
    name: "a pipeline, long words",
    as: "ada",
    visit: at("/organizations/globex/pipelines/long-words"),
  },
  {
    name: "a build, long words",
    as: "ada",
    visit: at("/organizations/globex/pipelines/long-words/builds/1"),
  },
  { name: "clusters", as: "ada", visit: at("/organizations/globex/clusters") },
  { name: "clusters, taken name", as: "ada", visit: takenName },
  { name: "audit log", as: "ada", visit: at("/organizations/globex/audit") },
  { name: "clusters, for a member", as: "bob", visit: at("/organizations/acme/clusters") },
  { name: "a cluster", as: "ada", visit: (page, { cluster }) => page.goto(cluster) },
  { name: "a cluster, no queue yet", as: "ada", visit: (page, { emptyCluster }) => page.goto(emptyCluster) },
  { name: "deleting a cluster, refused", as: "ada", visit: deletionRefused },
  { name: "a new queue, hosted", as: "ada", visit: hostedShape },
  { name: "a queue", as: "ada", visit: (page, { queues }) => page.goto(queues.deploy) },
  { name: "a queue, paused", as: "ada", visit: (page, { queues }) => page.goto(queues.default) },
  { name: "a queue, hosted", as: "ada", visit: (page, { queues }) => page.goto(queues.hosted) },
  {
    name: "history of a queue",
    as: "ada",
    visit: (page, { queues }) => page.goto(`${queues.default}/history`),
  },
  { name: "a queue, with agents and jobs", as: "ada", visit: (page, { agents }) => page.goto(agents.queue) },
  { name: "an agent", as: "ada", visit: (page, { agents }) => page.goto(agents.running) },
  { name: "an agent, paused", as: "ada", visit: (page, { agents }) => page.goto(agents.paused) },
  { name: "a build, jobs retried", as: "ada", visit: (page, { agents }) => page.goto(agents.build) },
  { name: "a build, passed", as: "ada", visit: at("/organizations/globex/pipelines/passed/builds/1") },
  { name: "a build, failed", as: "ada", visit: at("/organizations/globex/pipelines/failed/builds/1") },
  { name: "a build, running", as: "ada", visit: at("/organizations/globex/pipelines/running/builds/1") },
  {
    name: "a build, compared",
    as: "ada",
    visit: at("/organizations/globex/pipelines/passed/builds/2/compare"),
  },
  { name: "an annotation", as: "ada", visit: (page, { annotation }) => page.goto(annotation) },
  { name: "a build, times unfolded", as: "ada", visit: unfoldedTimes },
  { name: "artifacts", as: "ada", visit: (page, { artifacts }) => page.goto(artifacts.list) },
  {
    name: "artifacts, none",
    as: "ada",
    visit: at("/organizations/globex/pipelines/site/builds/1/artifacts"),
  },
  { name: "an artifact, a text", as: "ada", visit: (page, { artifacts }) => page.goto(artifacts.text) },
  { name: "an artifact, a picture", as: "ada", visit: (page, { artifacts }) => page.goto(artifacts.picture) },
  { name: "a new build, refused", as: "ada", visit: wrongBuild },
  { name: "a registration token, refused", as: "ada", visit: wrongToken },
  { name: "a registration token, created", as: "ada", visit: newRegistrationToken },
  { name: "editing a queue", as: "ada", visit: (page, { queues }) => page.goto(`${queues.hosted}/edit`) },
  ...resourceLooks,
  ...connectionLooks,
  ...outboxLooks,
  ...serviceLooks,
  ...providerLooks,
  ...scheduleLooks,
  ...secretLooks,
  ...stepLooks,
  ...hostLooks,
  ...triggerLooks,
];

/** Creates the content of all pages. */
export async function exhibit(pages: Pages) {
  await exhibitHosts(pages);
  const furnished = { ...(await requests(pages)), ...(await furnish(pages)) };
  await exhibitProviders(pages);
  return {
    ...furnished,
    triggers: await exhibitTriggers(pages),
    agents: await exhibitAgents(pages),
    steps: await exhibitSteps(pages),
    resources: await exhibitResources(pages),
    secrets: await exhibitSecrets(pages),
    connections: await exhibitConnections(pages),
    outbox: await exhibitMessages(pages),
    services: await exhibitServices(pages),
    artifacts: await exhibitArtifacts(pages, "passed"),
    schedule: await exhibitSchedules(pages),
    annotation: await largeAnnotation(pages),
    unsubscribe: unsubscribePath(pages),
    app: await connectedApp(pages),
    token: await ownToken(pages),
  };
}

/** Of a build that is compared with the one before it. */
async function largeAnnotation({ services, ada }: Pages): Promise<string> {
  const organization = await requireOrganization(services.db, "globex");
  const pipeline = await requirePipeline(services.db, organization.id, "passed");
  const { build } = await createBuildByHand(services, { organization, userId: ada.id }, pipeline, {
    branch: "main",
    message: "Once more",
  });
  const rows = "| parser/expressions/of-conditions.test.ts | 1,204 | 12.3 s |\n".repeat(1200);
  const body = `### Slow tests\n\n| File | Tests | Time |\n|---|---|---|\n${rows}`;
  const annotation = await annotateByHand(
    services,
    { buildId: build.id, jobId: null },
    { body, context: "slow tests", style: "warning" },
  );
  return `/organizations/globex/pipelines/passed/builds/2/annotations/${annotation}`;
}

function unsubscribePath({ services, acme, ada }: Pages): string {
  const token = unsubscribeTokenOf(services, { organizationId: acme.id, userId: ada.id });
  return pathTo(patterns.unsubscribe, { token });
}

/** Creates a user code in each state. */
async function requests(pages: Pages) {
  const person = await pages.visitor(pages.ada);
  const entered = async (decision?: Record<string, string>) => {
    const codes = await pages.authorize({ scope, organization: "acme" }, deviceAgent);
    await person.post("/oauth/device", { user_code: codes.user_code, came_by_link: "1" });
    if (decision)
      await person.post(`/oauth/device/${codes.user_code}/review`, {
        mine: "1",
        organization: pages.acme.id,
        ...decision,
      });
    return codes;
  };
  const handled = await entered({ decision: "authorize" });
  const again = await entered({ decision: "authorize", organization: pages.globex.id });
  await pages.poll(handled);
  await pages.poll(again);
  return {
    handled: handled.user_code,
    denied: (await entered({ decision: "deny" })).user_code,
    reviewed: (await entered()).user_code,
    linked: (await pages.authorize()).user_code,
  };
}

/** Returns the grant of an application with refresh tokens. */
async function connectedApp(pages: Pages): Promise<string> {
  await addApplication(pages, { name: "Terraform provider", clientId: "terraform", refreshTokens: true });
  const person = await pages.visitor(pages.ada);
  const codes = await pages.authorize({ client_id: "terraform", scope }, "terraform/1.12");
  await person.post("/oauth/device", { user_code: codes.user_code });
  const form = { decision: "authorize", organization: pages.globex.id };
  await person.post(`/oauth/device/${codes.user_code}/review`, form, {
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  });
  await pages.poll(codes, "terraform");
  const [newest] = await listConnectedApps(pages.services, pages.ada.id);
  return newest?.grant.id ?? "";
}

/** Ada is an admin of Globex. */
async function furnish(pages: Pages) {
  const { services, ada } = pages;
  await updateOrganization(services, "globex", { features: { custom_agent_images: true } });
  const organization = await requireOrganization(services.db, "globex");
  const actor = { organization, userId: ada.id };
  const cluster = await createCluster(services, actor, {
    name: "Primary",
    emoji: "⚙",
    description: "Machines in the basement and a few in the cloud, for everything that Globex builds.",
  });
  const empty = await createCluster(services, actor, { name: "Laboratory" });
  const make = (queue: NewQueue) => createQueue(services, actor, cluster, queue);
  const main = await make({ key: "default", isDefault: true, description: "Whatever needs no secrets" });
  const hosted = await make({ key: "hosted-linux", instanceShape: "LINUX_AMD64_4X16" });
  const deploy = await make({ key: "deploy", retryAgentAffinity: "prefer-different" });
  await updateQueue(services, actor, hosted, {
    hosted: { instanceShape: "LINUX_AMD64_8X32", agentImageRef: "registry.example.com/globex/agent:v12" },
  });
  const pipeline = { clusterId: cluster.id, defaultBranch: "main" };
  await createPipeline(services, actor, { ...pipeline, name: "Documentation", steps: [defaultStep] });
  const site = await createPipeline(services, actor, {
    ...pipeline,
    name: "Site",
    steps: [
      { label: "Test", command: "npm ci && npm test" },
      { label: "Bundle", command: "npm run build -- --minify", agents: { queue: "hosted-linux" } },
      { command: "./deploy.sh production", agents: { queue: "deploy" } },
    ],
  });
  await buildsOf(pages, actor, { pipeline: site });
  await cancelBuild(services, actor, site, 2);
  await pauseDispatch(services, actor, main, "The machines get new disks.\nBack at noon: ask Ada.");
  await fanOut(services, main.id);
  await exhibitQueue(pages, deploy);
  await exhibitUse(pages, organization.id);
  await longWords(pages, cluster);
  const at = `/organizations/globex/clusters/${cluster.id}`;
  return {
    cluster: at,
    emptyCluster: `/organizations/globex/clusters/${empty.id}`,
    queues: {
      default: `${at}/queues/${main.id}`,
      hosted: `${at}/queues/${hosted.id}`,
      deploy: `${at}/queues/${deploy.id}`,
    },
  };
}

/** Creates words wider than a column and a command of several lines. */
async function longWords(pages: Pages, cluster: Cluster): Promise<void> {
  const key = "machines-with-large-disks-and-many-graphics-cards-in-the-basement-of-house-9";
  const actor = {
    organization: await requireOrganization(pages.services.db, "globex"),
    userId: pages.ada.id,
  };
  await createQueue(pages.services, actor, cluster, { key });
  const command = "npm ci\nnpm test -- --all";
  const steps = [{ label: "Test", command, agents: { queue: key } }];
  const long = { clusterId: cluster.id, defaultBranch: "main", name: "Long words", steps };
  const pipeline = await createPipeline(pages.services, actor, long);
  await buildsOf(pages, actor, {
    pipeline,
    branch: "feature/what-somebody-thought-of-on-a-friday-afternoon",
  });
}

/** Creates three builds of webhooks. */
async function buildsOf(
  pages: Pages,
  actor: Actor,
  { pipeline, branch = "main" }: { pipeline: Pipeline; branch?: string },
): Promise<void> {
  const created = await createTrigger(pages.services, actor, pipeline, {
    type: "webhook",
    label: "Site",
    buildMessage: "Publish what the editors changed: prices, opening hours and the map of all branches",
    buildCommit: "9f2c1e07ab54de31f0a6c5d4e8b7a9f3c2d1e0b4",
    buildBranch: branch,
    environment: { SITE_REGION: "eu-central" },
  });
  const payload = `{"event":"publish","id":12345678901234567890,"editors":["Ada","Bob"],"changes":[{"path":"/prices/2026/overview-of-all-products-and-services.html","lines":{"added":12,"removed":3}},{"path":"/map.svg","lines":{}}],"urgent":false,"note":null}`;
  for (let made = 0; made < 3; made++) await buildWebhook(pages, `/deliver/${created.token}`, payload);
}

async function ownToken({ services, ada, acme, clock }: Pages): Promise<string> {
  const make = async (description: string, scopes: string[], expiresInHours?: number) => {
    const id = newId(clock.now());
    await createOwnAccessToken(services, ada.id, {
      id,
      organizationId: acme.id,
      description,
      scopes,
      expiresInHours,
    });
    return id;
  };
  await make("Status board in the kitchen", ["read_builds", "read_pipelines", "read_build_logs"]);
  return make("Release script", ["read_user", "write_builds"], 90 * 24);
}
