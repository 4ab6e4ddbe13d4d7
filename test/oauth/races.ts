import type { Services } from "../../shared/services/services.ts";
import type { TestDatabase } from "../helpers/databases.ts";
import { allGrants, setUpClient } from "../helpers/device.ts";
import { get } from "../helpers/http.ts";
import { addPerson, setUpOrganization } from "../helpers/organization.ts";
import { runSecondIngress } from "../helpers/processes.ts";
import { startWorld } from "../helpers/world.ts";

export type Races = Awaited<ReturnType<typeof startRaces>>;

/** A race needs several tries. */
export const rounds = Array.from({ length: 4 }, (_, index) => index + 1);

export function times<T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => act(index)));
}

/** Starts processes of one installation, and a client whose tokens can be refreshed. */
export async function startRaces(database: TestDatabase) {
  const settings = { DEVICE_AUTHORIZATIONS_PER_MINUTE: "1000", DATABASE_HOT_POOL_SIZE: "20" };
  const world = await startWorld(database, settings);
  /** Shares the test's clock. */
  const here: { services: Services; url: string } = await world.another();
  const other = await runSecondIngress(world, settings);
  const acme = await setUpOrganization(world);
  const client = await setUpClient(world, { refreshTokens: true });
  return {
    world,
    here,
    other,
    acme,
    client,
    inTurns: (index: number) => (index % 2 ? world : other),
    statusOf: async (token: string) => (await get(`${other.url}/v2/access-token`, token)).status,
    grantsOf: async (userId: string) =>
      (await allGrants(world)).filter((grant) => grant.userId === userId).length,
    newMember: (role?: "admin" | "member") => addPerson(world, acme, role),
    async close() {
      await other.close();
      await world.close();
    },
  };
}
