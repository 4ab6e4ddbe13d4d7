import { pick } from "../../random.ts";
import type { Fault } from "../fault.ts";

export const cut: Fault = {
  kind: "cut",
  summary: "reset of all connections of a link",
  weight: 10,
  async inject({ links }, random) {
    const { name, proxy } = pick(random, links);
    proxy.cut();
    return { target: name };
  },
};
