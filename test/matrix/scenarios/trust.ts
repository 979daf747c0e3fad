/** Two callers at one agent: who may call, and what one caller may learn about the other. */
import assert from 'node:assert/strict'
import { A2AError, inputRequired } from '@parley/a2a'
import type { Authenticate } from '@parley/a2a/server'
import { assertRefused } from '../assert-refused.ts'
import type { Peer, Scenario } from '../scenario.ts'
import { messageParams, taskIn, isLegacy } from '../spelling.ts'

/** A token is a name; Mallory is authenticated but has no permission. */
const byName: Authenticate = ({ header }) => {
  const name = /^Bearer (\w+)$/.exec(header('authorization') ?? '')?.[1]
  if (name === 'mallory') throw new A2AError('PERMISSION_DENIED', 'Not you')
  return name === undefined ? null : { id: name }
}

const as = (name: string) => ({ headers: { authorization: `Bearer ${name}` } })

async function openTaskOf(peer: Peer, name: string, more: object = {}): Promise<string> {
  const { payload } = await peer.raw.call('SendMessage', messageParams('mine', more), as(name))
  return taskIn(peer.form, payload).id
}

export const trust: readonly Scenario[] = [
  {
    name: 'without credentials every operation gives 401 with a challenge, without permission 403, each in the shape of the binding [B-150 B-151 B-153 F-3]',
    async check({ open, cell }) {
      let runs = 0
      const peer = open(() => String((runs += 1)), {
        securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
        server: { authenticate: byName },
      })
      const calls = [
        (options: object) => peer.raw.call('SendMessage', messageParams('hi'), options),
        (options: object) => peer.raw.call('SendStreamingMessage', messageParams('hi'), options),
        (options: object) => peer.raw.call('GetTask', { id: 'x' }, options),
        (options: object) => peer.raw.call('CancelTask', { id: 'x' }, options),
        (options: object) => peer.raw.call('SubscribeToTask', { id: 'x' }, options),
        (options: object) => peer.raw.call('ListTaskPushNotificationConfigs', { taskId: 'x' }, options),
      ]
      for (const call of calls) {
        const unauthenticated = await call({})
        assertRefused(cell, unauthenticated, 'UNAUTHENTICATED')
        assert.equal(unauthenticated.headers.get('www-authenticate'), 'Bearer')
        assert.equal(assertRefused(cell, await call(as('mallory')), 'PERMISSION_DENIED').message, 'Not you')
      }
      assert.equal(runs, 0)
      assert.equal((await peer.raw.call('SendMessage', messageParams('hi'), as('ann'))).status, 200)
    },
  },
  {
    name: 'a task of another caller is not found, with the same response as for an unknown one [B-160 B-77 B-153]',
    async check({ open, cell }) {
      const peer = open(() => inputRequired('and?'), { server: { authenticate: byName } })
      const id = await openTaskOf(peer, 'ann')
      const never = id.replace(/.{4}$/, 'ffff')
      const calls = [
        (of: string) => peer.raw.call('GetTask', { id: of }, as('bob')),
        (of: string) => peer.raw.call('CancelTask', { id: of }, as('bob')),
        (of: string) => peer.raw.call('SubscribeToTask', { id: of }, as('bob')),
        (of: string) =>
          peer.raw.call('SubscribeToTask', { id: of }, { headers: { ...as('bob').headers, 'Last-Event-ID': '1' } }),
        (of: string) => peer.raw.call('SendMessage', messageParams('more', { taskId: of }), as('bob')),
        (of: string) => peer.raw.call('SendStreamingMessage', messageParams('more', { taskId: of }), as('bob')),
      ]
      for (const call of calls) {
        const foreign = await call(id)
        assertRefused(cell, foreign, 'TASK_NOT_FOUND')
        const unknown = await call(never)
        assert.equal(text(foreign.body, id), text(unknown.body, never))
        assert.deepEqual([foreign.status, [...foreign.headers]], [unknown.status, [...unknown.headers]])
      }
      assert.equal((await peer.raw.call('GetTask', { id }, as('ann'))).payload.status.state.length > 0, true)
    },
  },
  {
    name: 'callers share neither contexts, nor message ids, nor references [B-62 B-56 B-163 B-160]',
    async check({ open }) {
      const peer = open(
        async ({ references, context, caller }) => {
          const known = [...(await references()), ...(await context())].map(({ id }) => id)
          return { data: { caller: caller.id, known } }
        },
        { server: { authenticate: byName } },
      )
      const messageId = 'the-same'
      const mine = await openTaskOf(peer, 'ann', { contextId: 'shared', messageId })
      const theirs = await openTaskOf(peer, 'bob', { contextId: 'shared', messageId, referenceTaskIds: [mine] })
      assert.notEqual(theirs, mine)
      const { artifacts } = await peer.wire.call('GetTask', { id: theirs }, as('bob'))
      assert.deepEqual(artifacts?.[0]?.parts, [{ data: { caller: 'bob', known: [] } }])
    },
  },
  {
    name: "a list has the caller's own tasks and counts no others [B-77 B-85]",
    skip: ({ version }) => (isLegacy({ version }) ? `A2A ${version} has no way to list tasks` : undefined),
    async check({ open }) {
      const peer = open(() => 'done', { server: { authenticate: byName } })
      const mine = await openTaskOf(peer, 'ann')
      await openTaskOf(peer, 'bob')
      const { payload } = await peer.raw.call('ListTasks', {}, as('ann'))
      assert.deepEqual([payload.tasks.map(({ id }: any) => id), payload.totalSize], [[mine], 1])
      const filtered = await peer.raw.call('ListTasks', { status: 'TASK_STATE_COMPLETED' }, as('eve'))
      assert.deepEqual([filtered.payload.tasks, filtered.payload.totalSize], [[], 0])
    },
  },
  {
    name: 'a caller has a limit of concurrent tasks and streams, and the next one is refused [B-41]',
    async check({ open, cell }) {
      const limits = { tasksPerCaller: 1, streamsPerCaller: 1 }
      const peer = open(() => inputRequired('and?'), { server: { authenticate: byName, limits } })
      const id = await openTaskOf(peer, 'ann')
      const second = await peer.raw.call('SendMessage', messageParams('second'), as('ann'))
      assertRefused(cell, second, 'RATE_LIMITED')
      assert.ok(Number(second.headers.get('retry-after')) > 0)
      await openTaskOf(peer, 'bob')
      const stream = peer.wire.stream('SubscribeToTask', { id }, as('ann'))
      await stream.next()
      assertRefused(cell, await peer.raw.call('SubscribeToTask', { id }, as('ann')), 'RATE_LIMITED')
      await stream.return()
      const again = peer.wire.stream('SubscribeToTask', { id }, as('ann'))
      assert.ok((await again.next()).value)
      await again.return()
    },
  },
]

/** The body without the one id that must differ, and without the number of the request. */
function text({ id: _, ...body }: any, taskId: string): string {
  return JSON.stringify(body).replaceAll(taskId, '<id>')
}
