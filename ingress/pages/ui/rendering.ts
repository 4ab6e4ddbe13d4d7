import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Visitor } from "../../auth/session.ts";

/** The components of a page see one time and one visitor. */
export const Rendering = createContext<{ now: Date; visitor: Visitor | undefined }>({
  now: new Date(0),
  visitor: undefined,
});

/** The time of the page. */
export function useNow(): Date {
  return useContext(Rendering).now;
}

/** Undefined on an error page whose visitor could not be looked up. */
export function useVisitor(): Visitor | undefined {
  return useContext(Rendering).visitor;
}
