import type { Page } from "playwright-core";
import { requireOrganization } from "../../../../shared/accounts/organizations.ts";
import { createCluster } from "../../../../shared/clusters/clusters.ts";
import { createSecret } from "../../../../shared/secrets/secrets.ts";
import { press } from "../../../helpers/browser.ts";
import type { Pages } from "../../../helpers/pages.ts";
import type { Look } from "./every-page.ts";

/** Paths of pages. */
interface Exhibits {
  secrets: Record<"list" | "noneYet" | "one", string>;
}

const openNew = async (page: Page, path: string) => {
  await page.goto(path);
  await page.locator("#new-secret summary").click();
};
const refusedSecret = async (page: Page, { secrets }: Exhibits) => {
  await openNew(page, secrets.list);
  await page.getByLabel("Key").fill("1 key");
  await page.getByLabel("Value").fill("swordfish");
  await page.getByLabel("Policy").fill("- pipeline: web");
  await press(page, "Create secret");
};
const refusedPolicy = async (page: Page, { secrets }: Exhibits) => {
  await page.goto(secrets.one);
  await page.getByLabel("Policy").fill("pipeline_slug: web");
  await press(page, "Save");
};

export const secretLooks: Look<Exhibits>[] = [
  { name: "secrets", as: "ada", visit: (page, { secrets }) => page.goto(secrets.list) },
  { name: "secrets, none yet", as: "ada", visit: (page, { secrets }) => openNew(page, secrets.noneYet) },
  { name: "secrets, refused", as: "ada", visit: refusedSecret },
  { name: "a secret", as: "ada", visit: (page, { secrets }) => page.goto(secrets.one) },
  { name: "a secret, refused policy", as: "ada", visit: refusedPolicy },
];

/** Makes secrets of a cluster of Globex. */
export async function exhibitSecrets({ services, ada }: Pages): Promise<Exhibits["secrets"]> {
  const organization = await requireOrganization(services.db, "globex");
  const actor = { organization, userId: ada.id };
  const vault = await createCluster(services, actor, { name: "Vault" });
  const empty = await createCluster(services, actor, { name: "Empty vault" });
  const secret = { value: "swordfish", description: null, policy: null };
  await createSecret(services, actor, vault, { ...secret, key: "A_KEY_AS_LONG_AS_KEYS_MAY_BE_".repeat(8) });
  const description =
    "Publishes packages. Ask Ada for a new one before the end of the year: this one ends then.";
  const policy =
    "- pipeline_slug: release\n  build_branch: [main, release/*]\n- cluster_queue_key: trusted\n";
  const one = await createSecret(services, actor, vault, {
    ...secret,
    key: "NPM_TOKEN",
    description,
    policy,
  });
  const list = `/organizations/globex/clusters/${vault.id}/secrets`;
  const noneYet = `/organizations/globex/clusters/${empty.id}/secrets`;
  return { list, noneYet, one: `${list}/${one.id}` };
}
