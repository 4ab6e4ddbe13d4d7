import type { JobContract } from "../shared/jobs/define.ts";
import type { Services } from "../shared/runtime/services.ts";

/** A contract with the work that fulfils it. What `start` opens lives as long as the worker process. */
export interface WorkerJob {
  contract: JobContract;
  start: (services: Services) => (data: unknown) => Promise<void>;
}

/** What arrives is checked against the contract first: a job of another version must not be half understood. */
export function defineWorkerJob<Data>(
  contract: JobContract<Data>,
  start: (services: Services) => (data: Data) => Promise<unknown>,
): WorkerJob {
  return {
    contract: contract as JobContract,
    start(services) {
      const run = start(services);
      return async (data) => {
        await run(contract.data.parse(data));
      };
    },
  };
}
