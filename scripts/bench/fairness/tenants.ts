import type { Services } from "../../../shared/services/services.ts";
import type { Scratch } from "../../scratch/scratch.ts";
import { makeCodes } from "../device/codes.ts";
import { startRedis } from "../servers/redis.ts";
import { startSignalbox } from "../servers/signalbox.ts";
import { createClient, createTenant, type Owner, type Tenant } from "../servers/tenant.ts";
import type { Receivers } from "./receivers.ts";

export interface FairTenant extends Tenant {
  /** Approved: the token endpoint gives a grant for it. */
  deviceCode: string;
  /** The URL of what its attack has made. */
  prepared: string;
}

/** Makes rows of the attacker. @returns the URL of what the attack needs */
export type Prepare = (services: Services, owner: Owner) => Promise<string>;

/** Starts an ingress and a worker of a new installation with these organizations, of which the last is prepared. */
export async function startTenants(
  scratch: Scratch,
  options: {
    orgs: string[];
    name?: string;
    postgres: string | undefined;
    starter?: string | undefined;
    prepare?: Prepare | undefined;
    receivers?: Receivers | undefined;
  },
) {
  const { orgs, name = "fairness", postgres, starter, prepare, receivers } = options;
  const started = await startSignalbox(scratch, await startRedis(scratch), {
    name,
    postgres,
    starter,
    settings: { TRUSTED_PROXIES: "127.0.0.1", OUTBOUND_ALLOWED_NETWORKS: "127.0.0.0/8" },
    async seed(services) {
      const applicationId = await createClient(services, true);
      const tenants: FairTenant[] = [];
      for (const org of orgs) {
        const { tenant, owner } = await createTenant(services, { org, applicationId });
        const prepared = (org === orgs.at(-1) && (await prepare?.(services, owner))) || "";
        await receivers?.addServices(services, owner, org === orgs.at(-1));
        const [deviceCode = ""] = await makeCodes(services, tenant, "approved", 1);
        tenants.push({ ...tenant, deviceCode, prepared });
      }
      return tenants;
    },
  });
  await started.startWorker();
  return started;
}
