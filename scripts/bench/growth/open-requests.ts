import type { Services } from "../../../shared/services/services.ts";
import { readEvent } from "../../../shared/sources/providers.ts";
import { branchOfRequest, githubRequest } from "../bodies.ts";
import type { Base } from "./rows.ts";

const rowsPerRequest = 10;
const rowsAtOnce = 5000;

/** Inserts open pull requests of the busiest pipeline: for ten other rows one. @returns their number */
export async function insertOpenRequests({ db }: Services, base: Base, rows: number): Promise<number> {
  const total = Math.ceil(rows / rowsPerRequest);
  const pipelineId = base.pipelines[0]?.id ?? "";
  const reading = readEvent("github", "pull_request", JSON.parse(githubRequest(1, 0)));
  if (!("happened" in reading) || reading.happened.type !== "pull_request")
    throw new Error("The pull request of the bench is none.");
  const { request } = reading.happened;
  for (let done = 0; done < total; done += rowsAtOnce) {
    const numbers = Array.from({ length: Math.min(rowsAtOnce, total - done) }, (_, each) => done + each + 1);
    const requests = numbers.map((number) => {
      const branch = branchOfRequest(number);
      return { pipelineId, number, branch, facts: { ...request, number, branch }, updatedAt: new Date() };
    });
    await db.transaction((tx) => tx.insertMany(tx.tables.openRequests, requests));
  }
  return total;
}
