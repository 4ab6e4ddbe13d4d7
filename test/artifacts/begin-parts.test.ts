import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { beginParts } from "../../shared/artifacts/parts.ts";
import type { Artifact } from "../../shared/artifacts/store.ts";
import type { Services } from "../../shared/services/services.ts";

describe("uploads in parts", () => {
  it("begin a few at a time, of all batches of an organization together", async () => {
    let running = 0;
    let most = 0;
    const direct = {
      beginUpload: async (name: string) => {
        most = Math.max(most, ++running);
        await sleep(1);
        running--;
        return { uploadId: name, parts: [{ partNumber: 1, url: name }] };
      },
    };
    const db = { transaction: async () => undefined };
    const services = { blobs: { direct }, db } as unknown as Services;
    const artifact = {
      organizationId: "acme",
      size: 1024 ** 3,
      state: "new",
      uploadId: null,
      storedAt: null,
    };
    const batch = (name: string) =>
      Array.from({ length: 30 }, (_, index) => ({ ...artifact, id: `${name}${index}` }) as Artifact);

    const begun = await Promise.all(["a", "b"].map((name) => beginParts(services, batch(name))));

    assert.deepEqual(
      begun.map(({ size }) => size),
      [30, 30],
    );
    assert.ok(most <= 8, `${most} at once`);
  });
});
