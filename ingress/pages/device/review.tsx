import { endSession } from "../../../shared/accounts/sessions.ts";
import { approve, deny, release } from "../../../shared/device/decide.ts";
import { showUserCode } from "../../../shared/device/user-code.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import { Refusal } from "../../../shared/refusal.ts";
import type { Services } from "../../../shared/services/services.ts";
import { clientIp, userAgent } from "../../http/client-address.ts";
import {
  type PageResult,
  type SignedInRequest,
  signedInAction,
  signedInPage,
  signInAndReturnTo,
} from "../ui/page.ts";
import { asSentence, tryForm } from "../ui/problems.ts";
import { reviewForm } from "./form.tsx";
import { type ClaimedRequest, loadClaimedRequest, loadReview, reloadRequest } from "./load.ts";
import { alreadyHandled, deviceOutcome, notValidPage } from "./result.tsx";

/** GET …/:code/review, for the user who entered the code. */
export const reviewDevicePage = signedInPage(async (services, request) => {
  const claimed = await loadClaimedRequest(services, request);
  if (!claimed) return notValidPage();
  if (claimed.device.state !== "pending") return alreadyHandled(claimed.device);
  return reviewForm(request.visitor, await loadReview(services, claimed), services.clock.now());
});

/** POST …/:code/review {decision, organization, mine?} */
export const reviewDevice = signedInAction(async (services, request, form) => {
  const claimed = await loadClaimedRequest(services, request);
  if (!claimed) return notValidPage();
  if (claimed.device.state !== "pending") return alreadyHandled(claimed.device);

  switch (form.get("decision")) {
    case "authorize":
      return authorize(services, request, claimed, form);
    case "deny":
      return (await deny(services, claimed.device.code.id, request.user.id))
        ? resultPath(claimed)
        : alreadyHandled(await reloadRequest(services, claimed));
    case "release":
      return signInAsSomeoneElse(services, request, claimed);
    default:
      throw new Refusal(400, "The form must say what you have decided. Go back and try again.");
  }
});

/** GET …/:code/result */
export const deviceResultPage = signedInPage(async (services, request) => {
  const claimed = await loadClaimedRequest(services, request);
  return claimed ? deviceOutcome(claimed.device) : notValidPage();
});

async function authorize(
  services: Services,
  { event, visitor, user }: SignedInRequest,
  claimed: ClaimedRequest,
  form: URLSearchParams,
): Promise<PageResult> {
  const review = await loadReview(services, claimed);
  const { code, choices } = review;
  const organizationId = form.get("organization") ?? "";
  const refuse = (problem: string) =>
    reviewForm(visitor, review, services.clock.now(), { organizationId, problem });

  if (!choices.some(({ organization }) => organization.id === organizationId))
    return refuse("Choose the organization that the device may act in.");
  if (code.cameByLink && !form.has("mine"))
    return refuse("Tick the box if you started this on a device of yours. If you did not, deny it.");
  const approval = { organizationId, ip: clientIp(event), userAgent: userAgent(event) };
  const outcome = await tryForm(() => approve(services, { code, userId: user.id }, approval));
  if ("problems" in outcome) return refuse(asSentence(outcome.problems));
  return outcome.done ? resultPath(claimed) : alreadyHandled(await reloadRequest(services, claimed));
}

async function signInAsSomeoneElse(
  services: Services,
  { visitor, user }: SignedInRequest,
  { claim, device }: ClaimedRequest,
): Promise<string> {
  await release(services, device.code.id, user.id);
  await endSession(services, visitor.token);
  return signInAndReturnTo(pathTo(patterns.enterThisCode, { code: showUserCode(claim.userCode) }));
}

function resultPath({ claim }: ClaimedRequest): string {
  return pathTo(patterns.deviceResult, { code: showUserCode(claim.userCode) });
}
