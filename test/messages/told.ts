import type { Told, ToldBuild } from "../../shared/messages/told.ts";

/** A failed build, as messages tell it. */
export function told(build: Partial<ToldBuild> = {}): Told {
  return {
    build: {
      url: "https://ci.example.com/acme/web/builds/7",
      number: 7,
      state: "failed",
      branch: "main",
      commit: "1234567890123456789012345678901234567890",
      message: "Mend the roof\n\nIt rains.",
      pipeline: "Web",
      organization: "Acme",
      author: "Ada",
      finishedAt: new Date("2026-11-28T10:01:05Z"),
      workMs: 65_000,
      ...build,
    },
  };
}
