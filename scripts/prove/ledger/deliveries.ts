import type { Post } from "../traffic/observed.ts";
import { checkOf, type Problem } from "./discrepancy.ts";
import type { Ledger, StoredDelivery } from "./read.ts";

type Rows = Pick<Ledger, "deliveries" | "builds">;

/** Each 201 is one delivery with its bytes; each post at most one; each build is of a delivery that builds, or of a step. */
export const checkDeliveries = checkOf("deliveries", function* (posts: Post[], { deliveries, builds }: Rows) {
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  const byNumber = Map.groupBy(deliveries, ({ post }) => post?.number);
  const buildsOf = Map.groupBy(builds, ({ deliveryId }) => deliveryId);
  const postOf = new Map(posts.map((post) => [post.number, post]));
  for (const post of posts) yield* findLost(post, byId, byNumber.get(post.number) ?? []);
  for (const { id, status, post } of deliveries) {
    const sent = post && postOf.get(post.number);
    const built = buildsOf.get(id)?.length ?? 0;
    if (!sent) yield `delivery ${id} is of no post, or lost its bytes`;
    else if (post.builds ? status !== "build_created" || built !== 1 : status !== "not_run" || built !== 0)
      yield [
        `delivery ${id} of post ${post.number} has the status ${status} and ${built} builds`,
        sent.attempts,
      ];
  }
  for (const { id, deliveryId, triggeredByJobId } of builds)
    if (!triggeredByJobId && !(deliveryId && byId.has(deliveryId))) yield `build ${id} is of no delivery`;
});

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
