import { isPush } from "../installation/organization.ts";
import { commitsOf } from "../traffic/bodies.ts";
import type { Post } from "../traffic/observed.ts";
import { checkOf, type Problem } from "./discrepancy.ts";
import type { Ledger, StoredDelivery } from "./read.ts";

type Rows = Pick<Ledger, "deliveries" | "builds">;

/**
 * Each 201 is one delivery with its bytes; each post at most one; each build is of a delivery that builds, or of a step. A
 * push makes one build of each of its commits.
 */
export const checkDeliveries = checkOf("deliveries", function* (posts: Post[], { deliveries, builds }: Rows) {
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  const byNumber = Map.groupBy(deliveries, ({ post }) => post?.number);
  const buildsOf = Map.groupBy(builds, ({ deliveryId }) => deliveryId);
  const postOf = new Map(posts.map((post) => [post.number, post]));
  for (const post of posts) yield* findLost(post, byId, byNumber.get(post.number) ?? []);
  for (const { id, status, post } of deliveries) {
    const sent = post && postOf.get(post.number);
    const own = buildsOf.get(id) ?? [];
    const built = own.length;
    const wanted = sent && wantedCommits(sent);
    if (!sent || !wanted) yield `delivery ${id} is of no post, or lost its bytes`;
    else if (status !== (post.builds ? "build_created" : "not_run") || built !== wanted.length)
      yield [
        `delivery ${id} of post ${post.number} (${sent.trigger}) has the status ${status} and ${built} builds, not ${wanted.length}`,
        sent.attempts,
      ];
    else if (isPush({ name: sent.trigger }) && !isEqual(commitsIn(own), wanted))
      yield [`delivery ${id} of post ${post.number} built ${commitsIn(own)}, not ${wanted}`, sent.attempts];
  }
  for (const { id, deliveryId, triggeredByJobId } of builds)
    if (!triggeredByJobId && !(deliveryId && byId.has(deliveryId))) yield `build ${id} is of no delivery`;
});

/** The commits that the builds of a post have: one commit, whatever it is, for a trigger. */
function wantedCommits({ number, trigger, builds }: Post): string[] {
  if (!builds) return [];
  return trigger === "push of bitbucket" ? commitsOf(number) : commitsOf(number).slice(0, 1);
}

/** In the order of the push. */
function commitsIn(builds: Ledger["builds"]): string[] {
  return builds.toSorted((a, b) => a.number - b.number).map(({ commit }) => commit);
}

function isEqual(some: string[], others: string[]): boolean {
  return some.join() === others.join();
}

function* findLost(
  { number, trigger, key, attempts, isForged, ...post }: Post,
  byId: Map<string, StoredDelivery>,
  stored: StoredDelivery[],
): Iterable<Problem> {
  const name = `post ${number} (${trigger}${key ? ", with a key" : ""})`;
  const ids = [...new Set(post.ids)];
  if (ids.length > 1) yield [`${name} was answered with ${ids.length} ids: ${ids}`, attempts];
  if (stored.length > 1) yield [`${name} is ${stored.length} deliveries`, attempts];
  if (isForged && ids.length + stored.length > 0)
    yield [`${name} is stored, though its signature is wrong`, attempts];
  for (const id of ids) {
    const delivery = byId.get(id);
    if (!delivery) yield [`${name} was answered 201, but delivery ${id} is lost`, attempts];
    else if (delivery.post?.number !== number)
      yield [`${name}: delivery ${id} does not have its bytes`, attempts];
  }
}
