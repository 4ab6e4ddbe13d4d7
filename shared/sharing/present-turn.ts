import { AsyncLocalStorage } from "node:async_hooks";

/** A turn that a task runs in. */
export interface Turn {
  owner: string;
  /** Time in which the task waited and used nothing. */
  waitedMs: number;
  isOver: boolean;
}

const turns = new AsyncLocalStorage<Turn>();

export function runInTurn<Result>(turn: Turn, task: () => Promise<Result>): Promise<Result> {
  return turns.run(turn, task);
}

/** The owner's turn that the present work is part of, on any resource. */
export function presentTurnOf(owner: string): Turn | undefined {
  const turn = turns.getStore();
  return turn?.owner === owner && !turn.isOver ? turn : undefined;
}

/** Notes that the present turn's task waited, as for a thread that starts: its owner does not rest for that time. */
export function countWait(ms: number): void {
  const turn = turns.getStore();
  if (turn) turn.waitedMs += ms;
}
