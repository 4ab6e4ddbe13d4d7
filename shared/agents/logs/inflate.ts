import { loopTurn, threads } from "../../sharing/resources.ts";
import { deflateChunk, inflateReceived, inflatesOnLoop } from "./codec.ts";

/** Organizations take turns. @throws Refusal 413, 400, 503 */
export async function inflate(organizationId: string, body: Buffer): Promise<Buffer> {
  if (!inflatesOnLoop(body)) return threads.take(organizationId, () => inflateReceived(body));
  await loopTurn(organizationId);
  return inflateReceived(body);
}

/** @throws Refusal 503 */
export function deflate(organizationId: string, bytes: Buffer): Promise<Buffer> {
  return threads.take(organizationId, () => deflateChunk(bytes));
}
