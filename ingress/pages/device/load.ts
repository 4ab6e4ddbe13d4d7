import { getRouterParam } from "h3";
import {
  type Claim,
  type DeviceRequest,
  findDeviceRequest,
  listChoices,
  type OrganizationChoice,
} from "../../../shared/device/decide.ts";
import { readUserCode, showUserCode } from "../../../shared/device/user-code.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { SignedInRequest } from "../ui/page.ts";

/** A request that the visitor claimed by entering its code. */
export interface ClaimedRequest {
  claim: Claim;
  device: DeviceRequest;
}

export interface Review extends DeviceRequest {
  /** `BCDF-GHJK` */
  userCode: string;
  choices: OrganizationChoice[];
}

/** Undefined unless the visitor claimed it: others must learn nothing about it. */
export async function loadClaimedRequest(
  services: Services,
  { event, user }: SignedInRequest,
): Promise<ClaimedRequest | undefined> {
  const userCode = readUserCode(getRouterParam(event, "code", { decode: true }) ?? "");
  if (!userCode) return undefined;
  const claim = { userId: user.id, userCode };
  const device = await findDeviceRequest(services, claim);
  return device && { claim, device };
}

/** Another decision may have been faster. */
export async function reloadRequest(
  services: Services,
  { claim, device }: ClaimedRequest,
): Promise<DeviceRequest> {
  return (await findDeviceRequest(services, claim)) ?? device;
}

export async function loadReview(services: Services, { claim, device }: ClaimedRequest): Promise<Review> {
  const choices = await listChoices(services, claim.userId, device.code.scopes);
  return { ...device, userCode: showUserCode(claim.userCode), choices };
}
