import { hashToken, isWellFormedToken } from "../crypto/tokens.ts";
import { secondMs } from "../durations.ts";
import type { Application } from "../oauth/application-store.ts";
import type { Services } from "../services/services.ts";
import { type Gatherer, openGatherer, readTogether } from "../sharing/gatherer.ts";
import { type CodeRequest, commitNewCodes, type NewCodes } from "./authorize.ts";
import { stateAt } from "./device-code.ts";
import { commitRedemptions, type Redeemed, type Redemption } from "./redeem.ts";
import { listPolledCodes, type PolledCode, wasApproved } from "./store.ts";

/** A batch keeps the write lock from other processes for a few milliseconds. */
const maxBatchItems = 100;

/** Issues codes to devices and answers their polls, in batches. Each ingress process has one. */
export class DeviceFlow {
  readonly #services: Services;
  readonly #findCode: (hash: string) => Promise<PolledCode | undefined>;
  readonly #newCodes: Gatherer<CodeRequest, NewCodes>;
  readonly #redemptions: Gatherer<Redemption, Redeemed>;

  constructor(services: Services) {
    this.#services = services;
    this.#findCode = readTogether(
      (hashes) => listPolledCodes(services.db, { hashes }),
      ({ deviceCodeHash }) => deviceCodeHash,
    );
    this.#newCodes = openGatherer<CodeRequest, NewCodes>({
      flush: (requests) => commitNewCodes(services, requests),
      maxItems: maxBatchItems,
    });
    this.#redemptions = openGatherer<Redemption, Redeemed>({
      flush: (redemptions) => commitRedemptions(services, redemptions),
      maxItems: maxBatchItems,
    });
  }

  /** Issues codes to a device (ingress/oauth/README.md, "Device authorization"). */
  authorize(request: CodeRequest): Promise<NewCodes> {
    return this.#newCodes.add(request);
  }

  /** Answers a poll: the tokens if the user has approved (RFC 8628 §3.4), else why not. */
  async poll(application: Application, deviceCode: string): Promise<Redeemed> {
    if (!application.deviceFlow) return "device_flow_off";
    if (!isWellFormedToken("deviceCode", deviceCode)) return "bad_device_code";
    const code = await this.#findCode(hashToken(deviceCode));
    if (code?.applicationId !== application.id) return "bad_device_code";

    const now = this.#services.clock.now();
    switch (stateAt(code, now)) {
      case "pending":
        return (await this.#isTooSoon(code, now)) ? "too_fast" : "pending";
      case "approved":
        return this.#redemptions.add({ application, id: code.id });
      case "denied":
        return (await wasApproved(this.#services.db, code.id)) ? "withdrawn" : "denied";
      case "expired":
        return "expired";
      case "used":
        return "bad_device_code";
    }
  }

  /** Resolves once what was begun is committed. */
  async close(): Promise<void> {
    await Promise.all([this.#newCodes.flush(), this.#redemptions.flush()]);
  }

  #isTooSoon(code: PolledCode, now: Date): Promise<boolean> {
    const { pacing, config } = this.#services;
    return pacing.isTooSoon({
      subject: code.id,
      now,
      intervalMs: config.pollIntervalSeconds * secondMs,
      lifetimeMs: code.expiresAt.getTime() - now.getTime(),
    });
  }
}
