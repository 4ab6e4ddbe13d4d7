import { changePassword } from "../../../shared/accounts/sessions.ts";
import { minPasswordLength } from "../../../shared/accounts/users.ts";
import { patterns } from "../../../shared/paths.ts";
import { setSignInCookies, type Visitor } from "../../auth/session.ts";
import { clientIp } from "../../http/client-address.ts";
import { limitSignInFailures } from "../../http/limits/limits.ts";
import { Field, PostForm } from "../ui/form.tsx";
import { accountAction, accountPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";
import type { PageContent } from "../ui/page.ts";
import type { FormProblems } from "../ui/problems.ts";

/** GET /user/password */
export const passwordPage = accountPage((_, { visitor }) => passwordForm(visitor));

/** POST /user/password {present, wanted, again}. Guesses of the present password count as failed sign-ins. */
export const savePassword = accountAction(async (services, { event, visitor, user }, form) => {
  const field = (name: string) => form.get(name) ?? "";
  if (field("wanted") !== field("again")) return passwordForm(visitor, [notRepeated]);

  const passwords = { current: field("present"), next: field("wanted") };
  const changed = await limitSignInFailures(services, user.email, clientIp(event), async (caller) => {
    const outcome = await changePassword(services, user, passwords, caller);
    return outcome === "wrong" ? undefined : outcome;
  });
  if (!changed) return passwordForm(visitor, [wrongPassword]);
  if ("problems" in changed)
    return passwordForm(
      visitor,
      changed.problems.map(({ message }) => ({ field: "wanted", message })),
    );

  setSignInCookies(services, event, changed);
  return withNotice(patterns.home, "password_changed");
});

const notRepeated = { field: "again", message: "The new password and its repetition are not the same" };
const wrongPassword = { field: "present", message: "The current password is wrong" };

function passwordForm(visitor: Visitor, problems?: FormProblems): PageContent {
  return narrowPage({
    title: "Change password",
    problems,
    content: (
      <PostForm path={patterns.password} problems={problems} button="Change password">
        <input type="hidden" name="username" value={visitor.user?.email} autocomplete="username" />

        <Field
          label="Current password"
          name="present"
          type="password"
          problems={problems}
          autocomplete="current-password"
          required
        />
        <Field
          label="New password"
          name="wanted"
          type="password"
          problems={problems}
          autocomplete="new-password"
          minLength={minPasswordLength}
          required
          hint={`At least ${minPasswordLength} characters. You will be signed out everywhere else.`}
        />
        <Field
          label="New password once more"
          name="again"
          type="password"
          problems={problems}
          autocomplete="new-password"
          required
        />
      </PostForm>
    ),
  });
}
