/**
 * Guards against: a subscriber that joins while the store lags. If the first
 * snapshot comes from a lagging store and the rest from live events, the events between are
 * in neither, and a stream may end during the work.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { artifact, memoryStore } from '@parley/a2a'
import type { Agent, Store, StreamEvent, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import { createGate, nameOf, requestFormats } from './protocol-requests.ts'

const chunks = 60

/** The same store with slow calls. */
function slow(store: Store, ms: number): Store {
  return {
    ...store,
    tasks: {
      ...store.tasks,
      append: async (...given) => {
        await delay(ms)
        return store.tasks.append(...given)
      },
      read: async (...given) => {
        await delay(ms)
        return store.tasks.read(...given)
      },
      load: async (...given) => {
        await delay(ms)
        return store.tasks.load(...given)
      },
    },
  }
}

/** Holds the last ten chunks until it is released. */
const talking = (goOn: Promise<void>): Agent =>
  async function* () {
    for (let index = 0; index < chunks; index += 1) {
      await (index === chunks - 10 ? goOn : delay(1))
      yield artifact('log', { text: `${index};`, append: index > 0, last: index === chunks - 1 })
    }
  }

/** Everything a reader received, snapshot and events together. */
function received(events: readonly StreamEvent[]): { text: string; state: string | undefined } {
  let text = ''
  let state: string | undefined
  for (const event of events) {
    const task = 'task' in event ? event.task : undefined
    const artifacts = task?.artifacts ?? ('artifactUpdate' in event ? [event.artifactUpdate.artifact] : [])
    text += artifacts.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join('')).join('')
    state = task?.status.state ?? ('statusUpdate' in event ? event.statusUpdate.status.state : state)
  }
  return { text, state }
}

describe('a subscriber of a task whose store is slow', () => {
  const all = Array.from({ length: chunks }, (_, index) => `${index};`).join('')

  for (const ms of [10, 20]) {
    it(`receives everything once, whenever it joins, at ${ms} ms a write [B-105 B-93]`, async () => {
      const joined = createGate()
      const agent = testAgent(talking(joined.opened), { store: slow(memoryStore(), ms) })
      const { id } = (await agent.send('go', { returnImmediately: true })) as Task
      const readers = await Promise.all(
        requestFormats.map(async (way, index) => {
          await delay(15 * index)
          const frames = agent.as(way.version, way.binding).subscribe(id).frames()
          const first = await frames.next()
          assert.ok(first.done !== true)
          return { way, first: first.value.event, frames }
        }),
      )
      joined.open()
      for (const { way, first, frames } of readers) {
        const events = [first, ...(await Array.fromAsync(frames, ({ event }) => event))]
        assert.deepEqual(received(events), { text: all, state: 'TASK_STATE_COMPLETED' }, nameOf(way))
      }
      await agent.close()
    })
  }

  it('resumes after a disconnect with the missed events only [B-109]', async () => {
    const agent = testAgent(talking(Promise.resolve()), { store: slow(memoryStore(), 10) })
    const { id } = (await agent.send('go', { returnImmediately: true })) as Task
    const events: StreamEvent[] = []
    let cursor: string | undefined
    for (let leg = 0; leg < 40 && received(events).state !== 'TASK_STATE_COMPLETED'; leg += 1) {
      let taken = 0
      for await (const frame of agent.subscribe(id, cursor === undefined ? {} : { lastEventId: cursor }).frames()) {
        events.push(frame.event)
        cursor = frame.id
        if ((taken += 1) === 3) break
      }
    }
    assert.deepEqual(received(events), { text: all, state: 'TASK_STATE_COMPLETED' })
    await agent.close()
  })
})
