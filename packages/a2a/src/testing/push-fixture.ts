/** An engine with webhooks, and a receiver that answers as the test says. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Agent } from '../agents/agent.ts'
import type { CallContext, EnginePush, PushDelivery, PushDesk, PushOutcome } from '../engine/contract.ts'
import { openKeyring } from '../engine/keyring.ts'
import { memoryStore } from '../stores/memory.ts'
import { alice, openHouse, short } from './engine-fixture.ts'
import type { House, HouseOptions, How } from './engine-fixture.ts'

export const url = 'https://hooks.example.com/a'
export const ok: PushOutcome = { outcome: 'delivered', said: 'HTTP 204' }
export const broken: PushOutcome = { outcome: 'failed', said: 'HTTP 500' }

const manner = { version: '1.0', triggers: 'significant' } as const
export const asking: CallContext = { ...alice, push: manner }
/** What a message says that asks for a webhook. */
export const withPush = (more: object = {}): How => ({
  taskPushNotificationConfig: { url, ...more },
  as: { push: manner },
})

export interface Receiver {
  readonly told: PushDelivery[]
  answer: (delivery: PushDelivery) => PushOutcome | Promise<PushOutcome>
}

export interface PushHouse {
  readonly house: House
  readonly receiver: Receiver
  readonly desk: PushDesk
}

/** Nothing is swept within a test unless it says so: what comes, comes because somebody was woken. */
export async function openPushHouse(
  t: TestContext,
  agent: Agent,
  over: Partial<EnginePush> = {},
  options: HouseOptions = {},
): Promise<PushHouse> {
  const receiver: Receiver = { told: [], answer: () => ok }
  const store = options.store ?? memoryStore()
  const push: EnginePush = {
    async deliver(delivery) {
      receiver.told.push(delivery)
      return receiver.answer(delivery)
    },
    sealer: await openKeyring(store),
    scheduleMs: [1, 1, 1],
    timeoutMs: 1_000,
    concurrent: 8,
    concurrentPerHost: 4,
    configsPerTask: 3,
    ...over,
  }
  const house = await openHouse(t, agent, { sweepMs: 60_000, ...options, store, push })
  assert.ok(house.engine.push)
  return { house, receiver, desk: house.engine.push }
}

/** `WORKING`, `task COMPLETED`, or the text of an artifact: what was told, in words. */
export function wordsOf(told: readonly PushDelivery[]): string[] {
  return told.map(({ item: { event } }) => {
    if ('statusUpdate' in event) return short(event.statusUpdate.status.state)
    if ('task' in event) return `task ${short(event.task.status.state)}`
    if ('message' in event) return 'a message'
    return event.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
  })
}

/** An agent that is at work until it is released. */
export function createWaiting(): { readonly agent: Agent; release(): void } {
  const gate = Promise.withResolvers<void>()
  const agent: Agent = async function* () {
    yield { state: 'TASK_STATE_WORKING' }
    await gate.promise
  }
  return { agent, release: gate.resolve }
}
