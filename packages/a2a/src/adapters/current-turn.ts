/** The turn whose agent runs now, for code that a framework calls without it: tools that call other agents. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Turn } from '../agents/agent.ts'

const running = new AsyncLocalStorage<Turn>()

/** The turn that runs the current tool; `undefined` outside of an agent of this module. */
export function currentTurn(): Turn | undefined {
  return running.getStore()
}

/** Calls `work` within a turn. */
export function withCurrentTurn<T>(turn: Turn, work: () => T): T {
  return running.run(turn, work)
}
