import { getRouterParam } from "h3";
import {
  type DeviceRequest,
  type EnteredCode,
  findDeviceRequest,
  listChoices,
  type OrganizationChoice,
} from "../../../shared/device/decide.ts";
import { readUserCode, showUserCode } from "../../../shared/device/user-code.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { SignedInRequest } from "../ui/page.ts";

/** A request whose code the visitor entered. */
export interface EnteredRequest {
  entered: EnteredCode;
  device: DeviceRequest;
}

export interface Review extends DeviceRequest {
  /** `BCDF-GHJK` */
  userCode: string;
  choices: OrganizationChoice[];
}

/** Undefined unless the visitor entered its code: others must learn nothing about it. */
export async function loadEnteredRequest(
  services: Services,
  { event, user }: SignedInRequest,
): Promise<EnteredRequest | undefined> {
  const userCode = readUserCode(getRouterParam(event, "code", { decode: true }) ?? "");
  if (!userCode) return undefined;
  const entered = { userId: user.id, userCode };
  const device = await findDeviceRequest(services, entered);
  return device && { entered, device };
}

/** Another decision may have been faster. */
export async function reloadRequest(
  services: Services,
  { entered, device }: EnteredRequest,
): Promise<DeviceRequest> {
  return (await findDeviceRequest(services, entered)) ?? device;
}

export async function loadReview(services: Services, { entered, device }: EnteredRequest): Promise<Review> {
  const choices = await listChoices(services, entered.userId, device.code.scopes);
  return { ...device, userCode: showUserCode(entered.userCode), choices };
}
