import type { Page } from "playwright-core";
import { requireOrganization } from "../../../../shared/accounts/organizations.ts";
import { createConnection } from "../../../../shared/connections/connections.ts";
import { newConnection } from "../../../../shared/connections/members.ts";
import { press } from "../../../helpers/browser.ts";
import type { Pages } from "../../../helpers/pages.ts";
import type { Look } from "./every-page.ts";

/** Paths of pages. */
interface Exhibits {
  connections: Record<"list" | "inside", string>;
}

const refused = async (page: Page, { connections }: Exhibits) => {
  await page.goto(`${connections.list}/new`);
  await page.getByLabel("Kind of host").selectOption("gitea");
  await page.getByLabel("Address", { exact: true }).fill("git.example.com");
  await page.getByLabel("Networks").fill("10");
  await press(page, "Create connection");
};
const withRights = async (page: Page, { connections }: Exhibits) => {
  await page.goto(`${connections.list}/new`);
  await page.getByText("The smallest rights").click();
};

export const connectionLooks: Look<Exhibits>[] = [
  { name: "connections", as: "ada", visit: (page, { connections }) => page.goto(connections.list) },
  { name: "a new connection", as: "ada", visit: withRights },
  { name: "a new connection, refused", as: "ada", visit: refused },
  { name: "a connection inside", as: "ada", visit: (page, { connections }) => page.goto(connections.inside) },
];

/** Makes connections of Globex. */
export async function exhibitConnections({ services, ada }: Pages): Promise<Exhibits["connections"]> {
  const organization = await requireOrganization(services.db, "globex");
  const make = (given: object) =>
    createConnection(services, { organization, userId: ada.id }, newConnection.parse(given));
  await make({ type: "github" });
  await make({
    type: "bitbucket_server",
    url: `https://${"a-long-name.".repeat(18)}example.com`,
    token: "t",
  });
  const url = "https://10.0.0.7/gitlab";
  const networks = ["10.0.0.0/8", "2001:db8::/32"];
  const inside = await make({
    type: "gitlab_self_managed",
    url,
    token: "t",
    webhook_allowed_addresses: networks,
  });
  const list = "/organizations/globex/repository_connections";
  return { list, inside: `${list}/${inside.id}` };
}
