/**
 * Guards against: the text of an exception in a response. Errors of an agent, a hook or a
 * store may reveal connection strings, files and versions; they belong in the log
 * and nowhere else.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import type { Agent, Store, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent } from '@parley/a2a/testing'
import {
  readAnswer,
  createRecordingLog,
  newMessage,
  nameOf,
  post,
  sendRequest,
  requestFormats,
} from './protocol-requests.ts'
import type { RecordingLog } from './protocol-requests.ts'

const secret = 'postgres://admin:hunter2@db.internal/prod'
const boom = (): never => {
  throw new Error(`connect to ${secret} failed`, { cause: new Error(secret) })
}
const leaks = /hunter2|postgres|db\.internal|\bat .+:\d+:\d+|node:internal|\.ts\b|Error:/

const opened: TestAgent[] = []
after(async () => {
  for (const agent of opened) await agent.close()
})

function tested(agent: Agent, options: Parameters<typeof testAgent>[1] = {}): { agent: TestAgent; log: RecordingLog } {
  const log = createRecordingLog()
  const made = testAgent(agent, { ...options, server: { log, ...options.server } })
  opened.push(made)
  return { agent: made, log }
}

const isLogged = ({ entries }: RecordingLog): boolean =>
  entries.some(
    ({ cause }) => cause instanceof Error && (cause.message.includes(secret) || String(cause.cause).includes(secret)),
  )

describe('the error of an agent', () => {
  const throwing: Record<string, Agent> = {
    'at once': boom,
    later: async () => boom(),
    'after it has said something': async function* () {
      yield 'so far so good'
      boom()
    },
    'as a text': () => {
      throw secret
    },
  }
  for (const [when, run] of Object.entries(throwing)) {
    it(`${when} stays in the log, by every operation on the task [B-50]`, async () => {
      const { agent, log } = tested(run)
      for (const way of requestFormats) {
        for (const stream of [false, true]) {
          const { path, body, headers } = sendRequest(way, newMessage(way, 'x'), stream)
          const { text, status } = await post(agent, path, body, headers)
          assert.equal(status, 200, nameOf(way))
          assert.match(text, /failed/i)
          assert.doesNotMatch(text, leaks, nameOf(way))
        }
      }
      for (const task of await agent.list({ includeArtifacts: true })) assert.doesNotMatch(JSON.stringify(task), leaks)
      assert.ok(
        log.entries.some(({ cause }) => String(cause).includes(secret)),
        'the log does not know either',
      )
    })
  }
})

describe('the error of a server component', () => {
  it('in authentication gives a 401 without the cause [B-151]', async () => {
    const { agent, log } = tested(() => 'x', { server: { authenticate: boom } })
    for (const way of requestFormats) {
      const { path, body, headers } = sendRequest(way, newMessage(way, 'x'))
      const { status, text } = await post(agent, path, body, headers)
      assert.equal(status, 401)
      assert.doesNotMatch(text, leaks)
    }
    assert.ok(isLogged(log))
  })

  it('in the extended card gives an internal error without the cause', async () => {
    const { agent, log } = tested(() => 'x', { caller: { id: 'ada' }, extendedCard: boom })
    for (const [path, version] of [
      ['/extendedAgentCard', '1.0'],
      ['/v1/card', '0.3'],
      ['/agent/authenticatedExtendedCard', '0.2'],
    ] as const) {
      const { status, text } = await readAnswer(
        await agent.fetch(new Request(`http://agent.test${path}`, { headers: { 'a2a-version': version } })),
      )
      assert.equal(status, 500)
      assert.doesNotMatch(text, leaks)
    }
    assert.ok(isLogged(log))
  })

  for (const method of ['append', 'load', 'findMessage', 'list', 'countActive'] as const) {
    it(`in the store (${method}) gives a server error without the cause`, async () => {
      const store: Store = memoryStore()
      let broken = false
      const failing = {
        ...store,
        tasks: {
          ...store.tasks,
          [method]: (...given: never[]) =>
            broken
              ? Promise.reject(new Error(secret))
              : (store.tasks[method] as (...all: never[]) => unknown)(...given),
        },
      }
      const { agent } = tested(({ text }) => text, { store: failing, server: { limits: { tasksPerCaller: 1 } } })
      await agent.send('before')
      broken = true
      for (const way of requestFormats) {
        const { path, body, headers } = sendRequest(way, newMessage(way, 'x'))
        const requests = [
          new Request(`http://agent.test${path}`, {
            method: 'POST',
            body,
            headers: { ...headers, 'content-type': 'application/json' },
          }),
          new Request('http://agent.test/tasks', { headers: { 'a2a-version': '1.0' } }),
          new Request('http://agent.test/tasks/unknown', { headers: { 'a2a-version': '1.0' } }),
        ]
        for (const request of requests) {
          const { text, json } = await readAnswer(await agent.fetch(request))
          assert.ok(json !== undefined, text)
          assert.doesNotMatch(text, leaks)
        }
      }
      broken = false
      const after = (await agent.send('after')) as Task
      assert.equal(after.status.state, 'TASK_STATE_COMPLETED', 'it does not recover')
    })
  }
})
