import { defineHandler, getRouterParam } from "h3";
import { render } from "preact-render-to-string";
import { initials } from "../../../shared/accounts/avatar.ts";
import { Refusal } from "../../../shared/refusal.ts";
import { fileResponse } from "./serve.ts";

/** GET /avatars/:file: initials as a picture. Made of the address alone, it reveals no user. */
export function avatar() {
  return defineHandler((event) => {
    const file = getRouterParam(event, "file", { decode: true }) ?? "";
    const letters = /^(.{1,8})\.svg$/u.exec(file)?.[1];
    if (!letters || (letters !== initials([...letters].join(" ")) && letters !== "-"))
      throw new Refusal(404, "Not Found");
    return fileResponse(render(<Avatar letters={letters} />), "image/svg+xml", "public, max-age=86400");
  });
}

function Avatar({ letters }: { letters: string }) {
  const hue = [...letters].reduce((sum, letter) => sum * 31 + (letter.codePointAt(0) ?? 0), 7) % 360;
  return (
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label={letters}>
      <rect width="64" height="64" rx="32" fill={`hsl(${hue} 45% 38%)`} />
      <text
        x="32"
        y="33"
        fill="#fff"
        font-family="system-ui, sans-serif"
        font-size="26"
        font-weight="600"
        text-anchor="middle"
        dominant-baseline="central"
      >
        {letters}
      </text>
    </svg>
  );
}
