import type { Db, Tx } from "../../db/database.ts";
import type { Happened, PullRequest } from "../../sources/happened.ts";
import {
  deleteOpenRequests,
  listOpenRequests,
  type OpenRequest,
  putOpenRequests,
  type RequestKey,
} from "../../sources/open-requests-store.ts";

/**
 * The open requests of pushed branches in a transaction: from rows, and from its own events. Requests of forks are left
 * out: their branches may have the names of ours.
 */
export class OpenRequests {
  readonly #ofBranch = new Map<string, PullRequest>();
  readonly #changes = new Map<string, OpenRequest | RequestKey>();

  static async read(
    db: Db | Tx,
    pushes: { pipelineId: string; happened: Extract<Happened, { type: "push" }> }[],
  ): Promise<OpenRequests> {
    const open = new OpenRequests();
    for (const [pipelineId, own] of Map.groupBy(pushes, (push) => push.pipelineId)) {
      const changes = own.flatMap(({ happened }) => happened.changes);
      const pushed = changes.filter(({ type, commit }) => type === "branch" && commit !== null);
      const branches = [...new Set(pushed.map(({ name }) => name))];
      if (branches.length === 0) continue;
      for (const { facts } of await listOpenRequests(db, pipelineId, branches)) open.#keep(pipelineId, facts);
    }
    return open;
  }

  find(pipelineId: string, branch: string): PullRequest | undefined {
    return this.#ofBranch.get(`${pipelineId} ${branch}`);
  }

  /** Applies an event, for those behind it and for the store. */
  apply(pipelineId: string, happened: Happened, updatedAt: Date): void {
    if (happened.type !== "pull_request" || happened.request.isFork) return;
    const { request: facts } = happened;
    const { number, branch } = facts;
    const key = { pipelineId, number };
    this.#changes.set(`${pipelineId} ${number}`, facts.isClosed ? key : { ...key, branch, facts, updatedAt });
    if (!facts.isClosed) this.#keep(pipelineId, facts);
    else if (this.find(pipelineId, branch)?.number === number)
      this.#ofBranch.delete(`${pipelineId} ${branch}`);
  }

  async store(tx: Tx): Promise<void> {
    const changes = [...this.#changes.values()];
    await putOpenRequests(
      tx,
      changes.flatMap((change) => ("facts" in change ? change : [])),
    );
    await deleteOpenRequests(
      tx,
      changes.filter((change) => !("facts" in change)),
    );
  }

  /** The newest request of a branch. */
  #keep(pipelineId: string, facts: PullRequest): void {
    const known = this.find(pipelineId, facts.branch);
    if (!known || known.number <= facts.number) this.#ofBranch.set(`${pipelineId} ${facts.branch}`, facts);
  }
}
