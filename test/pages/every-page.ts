import type { Page } from "playwright-core";
import { createOwnAccessToken } from "../../shared/accounts/access-tokens.ts";
import { newId } from "../../shared/ids.ts";
import { listConnectedApps } from "../../shared/oauth/grants.ts";
import { press } from "../helpers/browser.ts";
import { addApplication, type Pages } from "../helpers/pages.ts";

const scope = "read_user read_organizations read_builds read_clusters write_clusters";
const deviceAgent = "deploy-cli/2.3.1 (linux; x64) node/24.21.0";

/** What is there to be looked at: user codes, and ids. */
export type Exhibits = Awaited<ReturnType<typeof exhibit>>;

/** A page to look at, and how to get there. */
interface Look {
  name: string;
  as: "ada" | "bob" | "nobody";
  visit: (page: Page, exhibits: Exhibits) => Promise<unknown>;
}

const at = (path: string) => (page: Page) => page.goto(path);
const wrongPassword = async (page: Page) => {
  await page.goto("/sign-in");
  await page.getByLabel("Email address").fill("ada@acme.example.com");
  await page.getByLabel("Password").fill("wrong");
  await press(page, "Sign in");
};
const openMenu = async (page: Page) => {
  await page.goto("/");
  await page.locator("summary").click();
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

/** Every page of the service with something on it, and in the states that it can be in. */
export const everyPage: Look[] = [
  { name: "the start page", as: "nobody", visit: at("/?notice=signed_out") },
  { name: "sign-in", as: "nobody", visit: at("/sign-in?to=/oauth/device") },
  { name: "sign-in, wrong password", as: "nobody", visit: wrongPassword },
  { name: "a page that does not exist", as: "nobody", visit: at("/nowhere") },
  { name: "home", as: "ada", visit: at("/") },
  { name: "the menu", as: "ada", visit: openMenu },
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
];

/** Make what the pages then show. */
export async function exhibit(pages: Pages) {
  return { ...(await requests(pages)), app: await connectedApp(pages), token: await ownToken(pages) };
}

/** User codes in the states that Ada's requests can be in. */
async function requests(pages: Pages) {
  const person = await pages.visitor(pages.ada);
  const claimed = async (decision?: Record<string, string>) => {
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
  const handled = await claimed({ decision: "authorize" });
  const again = await claimed({ decision: "authorize", organization: pages.globex.id });
  await pages.poll(handled);
  await pages.poll(again);
  return {
    handled: handled.user_code,
    denied: (await claimed({ decision: "deny" })).user_code,
    reviewed: (await claimed()).user_code,
    linked: (await pages.authorize()).user_code,
  };
}

/** Another application that was used, with refresh tokens; the id of its grant. */
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
