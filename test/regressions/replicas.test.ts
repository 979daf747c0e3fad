/**
 * Guards against: two servers over one store. In other servers each writes the whole task as it
 * last saw it, so that one overwrites the other; a cancel that reaches the
 * other server ends nothing; and a subscriber at the other server gets a snapshot and
 * silence.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { after, describe, it } from 'node:test'
import { artifact, inputRequired, memoryStore, status } from '@parley/a2a'
import type { Agent, Store, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent } from '@parley/a2a/testing'
import { waitUntil, createGate } from './protocol-requests.ts'

interface Pair {
  readonly a: TestAgent
  readonly b: TestAgent
  readonly store: Store
  /** How often an append lost the race to the other server. */
  conflicts(): number
}

/** Two servers that share nothing but the store, which is slow enough for the other to write first. */
function pair(agent: Agent): Pair {
  const store = memoryStore({ leaseTtlMs: 2_000 })
  let conflicts = 0
  const shared: Store = {
    ...store,
    tasks: {
      ...store.tasks,
      append: async (taskId, append) => {
        await delay(Math.random() * 3)
        const appended = await store.tasks.append(taskId, append)
        if (appended.outcome === 'conflict') conflicts += 1
        return appended
      },
    },
    // The store is closed after both, not by the first.
    close: async () => {},
  }
  const options = { store: shared, cancelGraceMs: 300 }
  const made = { a: testAgent(agent, options), b: testAgent(agent, options) }
  opened.push(made.a, made.b)
  return { ...made, store, conflicts: () => conflicts }
}

const opened: TestAgent[] = []
after(async () => {
  for (const agent of opened) await agent.close()
})

describe('two servers over one store', () => {
  it('lose no message and no artifact of a task that both append to', async () => {
    const { a, b, store, conflicts } = pair(async function* ({ text }) {
      yield artifact(text, { text: `read ${text}` })
      yield inputRequired('And?')
    })
    const { id } = (await a.send('start')) as Task
    const texts = Array.from({ length: 60 }, (_, index) => `m${index}`)
    await Promise.all(
      texts.map((message, index) => (index % 2 === 0 ? a : b).send(message, { taskId: id, returnImmediately: true })),
    )
    const isDone = async (): Promise<boolean> => ((await a.get(id)).artifacts ?? []).length === texts.length + 1
    await waitUntil(isDone, 'every message was answered', 20_000)
    assert.ok(conflicts() > 0, 'they never met, so nothing was shown')
    const log = await store.tasks.read(id, 0)
    assert.deepEqual(
      log.map(({ seq }) => seq),
      log.map((_, index) => index + 1),
    )
    assert.deepEqual(await a.get(id), await b.get(id))
    for (const server of [a, b]) {
      const task = await server.get(id)
      const received = (task.history ?? []).flatMap(({ role, parts }) =>
        role === 'ROLE_USER' ? parts.map((part) => 'text' in part && part.text) : [],
      )
      assert.deepEqual(new Set(received), new Set(['start', ...texts]))
      assert.equal(received.length, texts.length + 1)
      assert.deepEqual((task.artifacts ?? []).map(({ artifactId }) => artifactId).sort(), ['start', ...texts].sort())
    }
  })

  it('cancel at either server: the agent is stopped, and its later output changes nothing [B-43 B-112]', async () => {
    const aborted = createGate()
    const finished = createGate()
    const { a, b } = pair(async function* ({ signal }) {
      yield status('At work')
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      aborted.open()
      try {
        // Ignores the cancel.
        yield artifact('late', { text: 'too late' })
        yield { state: 'TASK_STATE_COMPLETED' } as const
      } finally {
        finished.open()
      }
    })
    const { id } = (await a.send('go', { returnImmediately: true })) as Task
    const canceled = await b.cancel(id).catch((reason: unknown) => reason as { code: string })
    await aborted.opened
    await finished.opened
    // The agent's own COMPLETED may win if it is quick. Whichever won, both servers report the same and keep it.
    const state = 'status' in canceled ? canceled.status.state : canceled.code
    const [atA, atB] = [await a.get(id), await b.get(id)]
    assert.equal(atA.status.state, atB.status.state)
    assert.equal(atA.status.state, state === 'TASK_NOT_CANCELABLE' ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_CANCELED')
  })

  it('keep a task canceled that its agent would complete [B-43]', async () => {
    const release = createGate()
    const done = createGate()
    const { a, b } = pair(async function* () {
      yield status('Deaf')
      await release.opened
      try {
        yield { state: 'TASK_STATE_COMPLETED' } as const
      } finally {
        done.open()
      }
    })
    const { id } = (await a.send('go', { returnImmediately: true })) as Task
    assert.equal((await b.cancel(id)).status.state, 'TASK_STATE_CANCELED')
    release.open()
    await done.opened
    for (const server of [a, b]) assert.equal((await server.get(id)).status.state, 'TASK_STATE_CANCELED')
  })

  it('let a subscriber at one server follow a turn of the other to its end [B-94 B-105]', async () => {
    const begin = createGate()
    const { a, b } = pair(async function* () {
      yield artifact('log', { text: '0;' })
      await begin.opened
      for (let index = 1; index < 50; index += 1) yield artifact('log', { text: `${index};`, append: true })
    })
    const { id } = (await a.send('go', { returnImmediately: true })) as Task
    await waitUntil(async () => ((await b.get(id)).artifacts ?? []).length === 1, 'the first artifact')
    const events = b.subscribe(id).frames()
    const first = await events.next()
    assert.ok(!first.done && 'task' in first.value.event)
    begin.open()
    const rest = await Array.fromAsync(events)
    const text = rest
      .map(({ event }) =>
        'artifactUpdate' in event
          ? event.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
          : '',
      )
      .join('')
    assert.equal(text, Array.from({ length: 49 }, (_, index) => `${index + 1};`).join(''))
    const last = rest.at(-1)?.event
    assert.ok(last !== undefined && 'statusUpdate' in last && last.statusUpdate.status.state === 'TASK_STATE_COMPLETED')
  })

  it('take over from a server that died: no task stays WORKING forever [B-52]', async () => {
    const store = memoryStore({ leaseTtlMs: 300 })
    const agent: Agent = {
      resume: 'rerun',
      async *run({ resumed }) {
        yield status('At work')
        if (resumed === undefined) await new Promise(() => {})
        yield 'done after all'
      },
    }
    let dead = false
    // A dead server writes and renews nothing.
    const never = new Promise<never>(() => {})
    const dying = testAgent(agent, {
      store: {
        ...store,
        tasks: {
          ...store.tasks,
          append: (...given) => (dead ? never : store.tasks.append(...given)),
          renew: (...given) => (dead ? never : store.tasks.renew(...given)),
          claimOrphans: (...given) => (dead ? never : store.tasks.claimOrphans(...given)),
        },
        close: async () => {},
      },
    })
    const { id } = (await dying.send('go', { returnImmediately: true })) as Task
    dead = true
    const heir = testAgent(agent, { store })
    opened.push(heir)
    await waitUntil(
      async () => (await heir.get(id)).status.state === 'TASK_STATE_COMPLETED',
      'the heir finishes the task',
      10_000,
    )
  })
})
