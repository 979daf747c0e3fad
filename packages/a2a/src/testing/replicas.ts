/** Two engines over one store, as two processes have it: leases are real, and their time passes when the test says so. */
import type { TestContext } from 'node:test'
import type { Agent } from '../agents/agent.ts'
import { memoryStore } from '../stores/memory.ts'
import type { House, HouseOptions } from './engine-fixture.ts'
import { openHouse } from './engine-fixture.ts'
import type { Trouble } from './troubled-store.ts'
import { troubledStore } from './troubled-store.ts'

export const leaseTtlMs = 10_000

/** `here` may have troubles with the store that `there` has not. */
export async function replicas(t: TestContext, agent: Agent, options: HouseOptions = {}, trouble: Trouble = {}) {
  let at = Date.now()
  const now = (): number => at
  const store = memoryStore({ leaseTtlMs, now })
  const here = await openHouse(t, agent, { ...options, store: troubledStore(store, trouble), now })
  const there = await openHouse(t, agent, { ...options, store, now })
  return { here, there, store, pass: (ms: number) => void (at += ms) }
}

/** A task that is at work in this house. */
export const startedOn = async (house: House): Promise<string> => {
  const { id } = await house.start('go')
  await house.reaches(id, 'TASK_STATE_WORKING')
  return id
}
