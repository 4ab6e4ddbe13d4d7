import { createAccessToken } from "../../shared/accounts/access-tokens.ts";
import { requireOrganization } from "../../shared/accounts/organizations.ts";
import { createCluster } from "../../shared/clusters/clusters.ts";
import { createPipeline } from "../../shared/pipelines/pipelines.ts";
import { request } from "../helpers/http.ts";
import type { Pages } from "../helpers/pages.ts";
import type { Look } from "../ingress/pages/looks/every-page.ts";
import { fillIn, type Resource } from "./resource.ts";
import { resources } from "./resources.ts";

/** Paths of pages, by the name of the resource. */
interface Exhibits {
  resources: Record<string, { list: string; row: string }>;
}

/** The pages of every declared resource. */
export const resourceLooks: Look<Exhibits>[] = resources.flatMap(looksOf);

function looksOf({ name, forms }: Resource): Look<Exhibits>[] {
  const { create, change, delete: remove, hasList = true, hasPage = true } = forms;
  const look = (what: string, of: "list" | "row", end: string): Look<Exhibits> => ({
    name: `${name}: ${what}`,
    as: "ada",
    visit: (page, exhibits) => page.goto(exhibits.resources[name]?.[of] + end),
  });
  return [
    ...(hasList ? [look("the list", "list", "")] : []),
    ...(create === "" ? [] : [look("a new one", "list", create)]),
    ...(hasPage ? [look("one", "row", "")] : []),
    ...(change ? [look("changing one", "row", change)] : []),
    look("deleting one", "row", remove),
  ];
}

/** Makes a row of each resource in Globex. */
export async function exhibitResources({ services, url, ada }: Pages): Promise<Exhibits["resources"]> {
  const organization = await requireOrganization(services.db, "globex");
  const actor = { organization, userId: ada.id };
  const cluster = await createCluster(services, actor, { name: "Declared" });
  await createPipeline(services, actor, { clusterId: cluster.id, name: "Web", steps: [] });
  const scopes = [...new Set(resources.flatMap(({ operations }) => operations.scopes))];
  const named = { email: ada.email, organization: "globex", description: "" };
  const { token } = await createAccessToken(services, { ...named, scopes });
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const made: Exhibits["resources"] = {};
  for (const { name, path, key = "id", body } of resources) {
    const list = `/organizations/globex${fillIn(path, { acme: { cluster } })}`;
    const sent = JSON.stringify(body({ acme: { cluster } }));
    const answer = await request(`${url}/v2${list}`, { method: "POST", headers, body: sent });
    made[name] = { list, row: `${list}/${answer.body[key]}` };
  }
  return made;
}
