import { getRouterParam } from "h3";
import { enterUserCode } from "../../../shared/device/decide.ts";
import { readUserCode, showUserCode } from "../../../shared/device/user-code.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Visitor } from "../../auth/session.ts";
import { clientIp } from "../../http/client-address.ts";
import { limitUserCodeFailures } from "../../http/limits/limits.ts";
import { Field, FormError, PostForm } from "../ui/form.tsx";
import { accountAction, accountPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import type { PageContent } from "../ui/page.ts";

/** One message for all bad codes, so that a guess learns nothing. */
export const notValid =
  "This code is not valid. Check it on your device, or start there again for a new one.";

/** GET /oauth/device, or /oauth/device/:code, filled in. Reads and changes no request. */
export const enterCodePage = accountPage((_, { event, visitor }) => {
  const code = readUserCode(getRouterParam(event, "code", { decode: true }) ?? "");
  return codePage(visitor, { code: code && showUserCode(code), cameByLink: code !== undefined });
});

/** POST /oauth/device {user_code, came_by_link?}. Shows it to this user alone. */
export const enterCode = accountAction(async (services, { event, visitor, user }, form) => {
  const typed = form.get("user_code") ?? "";
  const cameByLink = form.has("came_by_link");
  const path = await limitUserCodeFailures(services, user.id, clientIp(event), async () => {
    const userCode = readUserCode(typed);
    if (!userCode || !(await enterUserCode(services, { userId: user.id, userCode }, cameByLink)))
      return undefined;
    return pathTo(patterns.reviewDevice, { code: showUserCode(userCode) });
  });
  return path ?? codePage(visitor, { code: typed.slice(0, 20), cameByLink, isWrong: true });
});

const problem = { field: "user_code", message: notValid };

interface CodeProps {
  code?: string | undefined;
  cameByLink?: boolean;
  isWrong?: boolean;
}

function codePage(visitor: Visitor, props: CodeProps): PageContent {
  const { cameByLink, isWrong } = props;
  return narrowPage({
    title: "Connect a device",
    status: isWrong ? 422 : 200,
    content: (
      <>
        <p>
          {cameByLink && !isWrong
            ? "Is this the code that your device shows? Then go on."
            : "Enter the code that your device shows."}
        </p>
        <CodeForm visitor={visitor} {...props} />
        <p class={cameByLink && !isWrong ? "warning" : "quiet"}>
          Never enter a code that somebody sent you: that person could then act in your name.
        </p>
      </>
    ),
  });
}

function CodeForm({ code, cameByLink, isWrong }: CodeProps & { visitor: Visitor }) {
  return (
    <PostForm path={patterns.enterCode} button="Continue">
      {cameByLink && !isWrong && <input type="hidden" name="came_by_link" value="1" />}
      {isWrong && <FormError problems={[problem]}>{notValid}</FormError>}
      <Field
        label="Code"
        name="user_code"
        value={code}
        class="user-code"
        placeholder="XXXX-XXXX"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        maxLength={20}
        required
        problems={isWrong ? [problem] : undefined}
      />
    </PostForm>
  );
}
