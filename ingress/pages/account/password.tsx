import { changePassword } from "../../../shared/accounts/sessions.ts";
import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { setSessionCookie, type Visitor } from "../../auth/session.ts";
import type { Bodies } from "../../http/body.ts";
import { clientIp } from "../../http/client-address.ts";
import { limitSignInFailures } from "../../http/limits.ts";
import { CsrfField, Field, FormError } from "../ui/form.tsx";
import { withNotice } from "../ui/notices.ts";
import { type PageContent, signedInAction, signedInPage } from "../ui/page.ts";

/** GET /user/password */
export function passwordPage(services: Services) {
  return signedInPage(services, ({ visitor }) => passwordForm(visitor));
}

/** POST /user/password {present, wanted, again}. Guessing the present one counts as guessing at sign-in. */
export function savePassword(services: Services, bodies: Bodies) {
  return signedInAction(services, bodies, async ({ event, visitor, user }, form) => {
    const field = (name: string) => form.get(name) ?? "";
    if (field("wanted") !== field("again"))
      return passwordForm(visitor, {
        text: "The new password and its repetition are not the same.",
        field: "again",
      });

    const passwords = { current: field("present"), next: field("wanted") };
    const changed = await limitSignInFailures(services, user.email, clientIp(event), async () => {
      const outcome = await changePassword(services, user, passwords);
      return outcome === "wrong" ? undefined : outcome;
    });
    if (!changed) return passwordForm(visitor, { text: "The current password is wrong.", field: "present" });
    if ("problems" in changed)
      return passwordForm(visitor, {
        text: `${changed.problems.map(({ message }) => message).join(", ")}.`,
        field: "wanted",
      });

    setSessionCookie(services.config, event, changed.token);
    return withNotice(patterns.home, "password_changed");
  });
}

function passwordForm(
  visitor: Visitor,
  problem?: { text: string; field: "present" | "wanted" | "again" },
): PageContent {
  return {
    title: "Change password",
    status: problem ? 422 : 200,
    content: (
      <div class="narrow">
        <h1>Change password</h1>
        <form method="post" action={patterns.password}>
          <CsrfField visitor={visitor} />
          <input type="hidden" name="username" value={visitor.user?.email} autocomplete="username" />
          {problem && <FormError inField>{problem.text}</FormError>}
          <Field
            label="Current password"
            name="present"
            type="password"
            isWrong={problem?.field === "present"}
            autocomplete="current-password"
            required
          />
          <Field
            label="New password"
            name="wanted"
            type="password"
            isWrong={problem?.field === "wanted"}
            autocomplete="new-password"
            minLength={10}
            required
            hint="At least 10 characters. You will be signed out everywhere else."
          />
          <Field
            label="New password once more"
            name="again"
            type="password"
            isWrong={problem?.field === "again"}
            autocomplete="new-password"
            required
          />
          <p class="actions">
            <button type="submit">Change password</button>
          </p>
        </form>
      </div>
    ),
  };
}
