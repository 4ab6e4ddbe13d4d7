import { getRouterParam } from "h3";
import { endSession } from "../../../shared/accounts/sessions.ts";
import {
  approve,
  type Claim,
  type DeviceRequest,
  deny,
  findDeviceRequest,
  listChoices,
  type OrganizationChoice,
  release,
} from "../../../shared/device/decide.ts";
import { readUserCode, showUserCode } from "../../../shared/device/user-code.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import type { Bodies } from "../../http/body.ts";
import { clientIp, userAgent } from "../../http/client-address.ts";
import {
  type FormResult,
  type SignedInRequest,
  signedInAction,
  signedInPage,
  signInAndReturnTo,
} from "../ui/page.ts";
import { reviewForm } from "./form.tsx";
import { alreadyHandled, deviceOutcome, notValidPage } from "./result.tsx";

/** A request under review, with what its form needs. */
export interface Review extends DeviceRequest {
  /** As it is shown. */
  userCode: string;
  choices: OrganizationChoice[];
}

/** GET /oauth/device/:code/review: who asks for what. Only whoever entered the code sees it. */
export function reviewDevicePage(services: Services) {
  return signedInPage(services, async (request) => {
    const claim = readClaim(request);
    const found = claim && (await findDeviceRequest(services, claim));
    if (!claim || !found) return notValidPage();
    if (found.state !== "pending") return alreadyHandled(found);
    return reviewForm(request.visitor, await toReview(services, claim, found), services.clock.now());
  });
}

/** POST /oauth/device/:code/review {decision, organization, mine?} */
export function reviewDevice(services: Services, bodies: Bodies) {
  return signedInAction(services, bodies, async (request, form) => {
    const claim = readClaim(request);
    const found = claim && (await findDeviceRequest(services, claim));
    if (!claim || !found) return notValidPage();
    if (found.state !== "pending") return alreadyHandled(found);

    switch (form.get("decision")) {
      case "authorize":
        return authorize(services, request, await toReview(services, claim, found), form);
      case "deny":
        return (await deny(services, found.code.id, claim.userId))
          ? pathTo(patterns.deviceResult, { code: showUserCode(claim.userCode) })
          : alreadyHandled(await look(services, claim, found));
      case "release":
        return signInAsSomeoneElse(services, request, claim, found);
      default:
        throw new Refusal(400, "The form must say what you have decided. Go back and try again.");
    }
  });
}

/** GET /oauth/device/:code/result */
export function deviceResultPage(services: Services) {
  return signedInPage(services, async (request) => {
    const claim = readClaim(request);
    const found = claim && (await findDeviceRequest(services, claim));
    return found ? deviceOutcome(found) : notValidPage();
  });
}

async function authorize(
  services: Services,
  { event, visitor, user }: SignedInRequest,
  review: Review,
  form: URLSearchParams,
): Promise<FormResult> {
  const organizationId = form.get("organization") ?? "";
  const refuse = (problem: string) =>
    reviewForm(visitor, review, services.clock.now(), { organizationId, problem });

  if (!review.choices.some(({ organization }) => organization.id === organizationId))
    return refuse("Choose the organization that the device may act in.");
  if (review.code.cameByLink && !form.has("mine"))
    return refuse("Tick the box if you started this on a device of yours. If you did not, deny it.");
  try {
    const approval = { organizationId, ip: clientIp(event), userAgent: userAgent(event) };
    if (await approve(services, { code: review.code, userId: user.id }, approval))
      return pathTo(patterns.deviceResult, { code: review.userCode });
  } catch (error) {
    if (error instanceof Refusal && error.status === 422) return refuse(`${error.message}.`);
    throw error;
  }
  const claim = { userId: user.id, userCode: readUserCode(review.userCode) ?? "" };
  return alreadyHandled(await look(services, claim, review));
}

async function signInAsSomeoneElse(
  services: Services,
  { visitor, user }: SignedInRequest,
  { userCode }: Claim,
  { code }: DeviceRequest,
): Promise<string> {
  await release(services, code.id, user.id);
  await endSession(services, visitor.token);
  return signInAndReturnTo(pathTo(patterns.enterThisCode, { code: showUserCode(userCode) }));
}

async function toReview(
  services: Services,
  { userId, userCode }: Claim,
  found: DeviceRequest,
): Promise<Review> {
  const choices = await listChoices(services, userId, found.code.scopes);
  return { ...found, userCode: showUserCode(userCode), choices };
}

/** What has become of the request meanwhile. */
async function look(services: Services, claim: Claim, before: DeviceRequest): Promise<DeviceRequest> {
  return (await findDeviceRequest(services, claim)) ?? before;
}

function readClaim({ event, user }: SignedInRequest): Claim | undefined {
  const userCode = readUserCode(getRouterParam(event, "code", { decode: true }) ?? "");
  return userCode ? { userId: user.id, userCode } : undefined;
}
