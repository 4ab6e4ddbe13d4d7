import type { Post } from "../traffic/observed.ts";
import { type Discrepancy, discrepancy } from "./discrepancy.ts";
import type { Ledger, StoredDelivery } from "./read.ts";

type Rows = Pick<Ledger, "deliveries" | "builds">;

/** Each 201 is one delivery with its bytes; each post at most one; each build is of a delivery that builds, or of a step. */
export function checkDeliveries(posts: Post[], { deliveries, builds }: Rows): Discrepancy[] {
  const byId = new Map(deliveries.map((delivery) => [delivery.id, delivery]));
  const byNumber = Map.groupBy(deliveries, ({ post }) => post?.number);
  const buildsOf = Map.groupBy(builds, ({ deliveryId }) => deliveryId);
  const postOf = new Map(posts.map((post) => [post.number, post]));
  return [
    ...posts.flatMap((post) => checkPost(post, byId, byNumber.get(post.number) ?? [])),
    ...deliveries.flatMap((delivery) => {
      const post = postOf.get(delivery.post?.number ?? 0);
      return checkDelivery(delivery, post, buildsOf.get(delivery.id)?.length ?? 0);
    }),
    ...builds
      .filter(({ triggeredByJobId }) => !triggeredByJobId)
      .filter(({ deliveryId }) => !deliveryId || !byId.has(deliveryId))
      .map(({ id }) => discrepancy("deliveries", `build ${id} is of no delivery`)),
  ];
}

function checkPost(post: Post, byId: Map<string, StoredDelivery>, stored: StoredDelivery[]): Discrepancy[] {
  const { number, attempts } = post;
  const name = `post ${number} (${post.trigger}${post.key ? ", with a key" : ""})`;
  const ids = [...new Set(post.ids)];
  const found: Discrepancy[] = [];
  if (ids.length > 1)
    found.push(discrepancy("deliveries", `${name} was answered with ${ids.length} ids: ${ids}`, attempts));
  if (stored.length > 1)
    found.push(discrepancy("deliveries", `${name} is ${stored.length} deliveries`, attempts));
  if (post.isForged && ids.length + stored.length > 0)
    found.push(discrepancy("deliveries", `${name} is stored, though its signature is wrong`, attempts));
  for (const id of ids) {
    const delivery = byId.get(id);
    if (!delivery)
      found.push(discrepancy("deliveries", `${name} was answered 201, but delivery ${id} is lost`, attempts));
    else if (delivery.post?.number !== number)
      found.push(discrepancy("deliveries", `${name}: delivery ${id} does not have its bytes`, attempts));
  }
  return found;
}

function checkDelivery(
  { id, status, post }: StoredDelivery,
  sent: Post | undefined,
  builds: number,
): Discrepancy[] {
  if (!post || !sent) return [discrepancy("deliveries", `delivery ${id} is of no post, or lost its bytes`)];
  const expected = post.builds ? { status: "build_created", builds: 1 } : { status: "not_run", builds: 0 };
  if (status === expected.status && builds === expected.builds) return [];
  const title = `delivery ${id} of post ${post.number} has the status ${status} and ${builds} builds`;
  return [discrepancy("deliveries", title, sent.attempts)];
}
