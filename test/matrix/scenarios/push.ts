/** Webhooks: configs in the shape of each version, and notifications in the version of the config. */
import assert from 'node:assert/strict'
import type { Agent } from '@parley/a2a'
import { assertRefused } from '../assert-refused.ts'
import type { Scenario, ScenarioContext } from '../scenario.ts'
import { sendForTask, waitUntil } from '../scenario.ts'
import type { Form } from '../spelling.ts'
import { messageParams, stateIn, isLegacy } from '../spelling.ts'

const url = 'https://hooks.example.com/hook'

interface Notification {
  readonly headers: Headers
  readonly body: any
}

/** A peer whose webhooks are received here. The first notifications may get another status than 204. */
function openWithHook({ open }: ScenarioContext, agent: Agent, statuses: number[] = []) {
  const delivered: Notification[] = []
  const fetch = async (request: Request): Promise<Response> => {
    const status = statuses.shift() ?? 204
    if (status === 204) delivered.push({ headers: request.headers, body: JSON.parse(await request.text()) })
    return new Response(null, { status })
  }
  return { peer: open(agent, { server: { push: { fetch, scheduleMs: [5, 5, 5] } } }), delivered }
}

/** A config in the shape of each version: never with its secrets. */
function shownIn(form: Form, taskId: string, id: string): unknown {
  if (form === '1.x') return { id, taskId, url, authentication: { scheme: 'Bearer' } }
  const pushNotificationConfig = { id, url, authentication: { schemes: ['Bearer'] } }
  if (form === '0.x JSON-RPC') return { taskId, pushNotificationConfig }
  return { name: `tasks/${taskId}/pushNotificationConfigs/${id}`, pushNotificationConfig }
}

const notifiedState = ({ body }: Notification): string | undefined =>
  body.statusUpdate?.status.state ?? body.status?.state
const endsWith = (delivered: readonly Notification[], state: string): boolean => {
  const last = delivered.at(-1)
  return last !== undefined && notifiedState(last) === state
}

const asks: Agent = ({ text }) => (text === 'end' ? 'done' : { state: 'TASK_STATE_INPUT_REQUIRED' })
const secrets = { token: 'tok-123', authentication: { scheme: 'Bearer', credentials: 'cred-456' } }

export const push: readonly Scenario[] = [
  {
    name: 'a webhook config is set, read, listed, replaced and deleted in the shape of its version, without returning its secrets [B-116 B-117 B-118 B-120]',
    async check(world) {
      const { peer } = openWithHook(world, asks)
      const { form, cell } = world
      const { id: taskId } = await sendForTask(peer, 'go')
      const set = (id: string) => peer.raw.call('CreateTaskPushNotificationConfig', { taskId, id, url, ...secrets })
      assert.deepEqual((await set('one')).payload, shownIn(form, taskId, 'one'))
      await set('two')
      await set('two')
      const got = await peer.raw.call('GetTaskPushNotificationConfig', { taskId, id: 'two' })
      assert.deepEqual(got.payload, shownIn(form, taskId, 'two'))
      const { payload } = await peer.raw.call('ListTaskPushNotificationConfigs', { taskId })
      const both = [shownIn(form, taskId, 'one'), shownIn(form, taskId, 'two')]
      assert.deepEqual(form === '0.x JSON-RPC' ? payload : payload.configs, both)
      for (let times = 0; times < 2; times += 1) {
        const gone = await peer.raw.call('DeleteTaskPushNotificationConfig', { taskId, id: 'one' })
        assert.deepEqual([gone.status, gone.payload], [200, form === '0.x JSON-RPC' ? null : {}])
      }
      const key = { taskId, id: 'one' }
      assertRefused(cell, await peer.raw.call('GetTaskPushNotificationConfig', key), 'TASK_NOT_FOUND')
      const nowhere = { taskId: 'nowhere', id: 'one' }
      assertRefused(cell, await peer.raw.call('DeleteTaskPushNotificationConfig', nowhere), 'TASK_NOT_FOUND')
      assertRefused(
        cell,
        await peer.raw.call('ListTaskPushNotificationConfigs', { taskId: 'nowhere' }),
        'TASK_NOT_FOUND',
      )
    },
  },
  {
    name: 'webhook configs are listed in pages if the version has them [B-117]',
    skip: ({ version, binding }) =>
      isLegacy({ version }) && binding === 'JSONRPC' ? `A2A ${version} answers a bare list over JSON-RPC` : undefined,
    async check(world) {
      const { peer } = openWithHook(world, asks)
      const { id: taskId } = await sendForTask(peer, 'go')
      for (const id of ['a', 'b', 'c']) await peer.raw.call('CreateTaskPushNotificationConfig', { taskId, id, url })
      const first = await peer.wire.call('ListTaskPushNotificationConfigs', { taskId, pageSize: 2 })
      const { nextPageToken: pageToken } = first
      const second = await peer.wire.call('ListTaskPushNotificationConfigs', { taskId, pageSize: 2, pageToken })
      const ids = [first, second].map(({ configs }) => configs.map(({ id }) => id))
      assert.deepEqual(ids, [['a', 'b'], ['c']])
      assert.equal(second.nextPageToken, '')
    },
  },
  {
    name: 'a webhook inside a send is notified until the task ends, in the format and the media type of its version [B-71 B-121 B-122 B-123 B-124 B-126 F-12 T-6]',
    async check(world) {
      const { peer, delivered } = openWithHook(world, () => 'done')
      const isNew = !isLegacy(world.cell)
      const task = await sendForTask(peer, 'go', { taskPushNotificationConfig: { url, ...secrets } })
      await waitUntil(async () => endsWith(delivered, stateIn(isNew ? '1.x' : '0.x JSON-RPC', 'TASK_STATE_COMPLETED')))
      for (const { headers, body } of delivered) {
        assert.equal(headers.get('content-type'), isNew ? 'application/a2a+json' : 'application/json')
        assert.equal(headers.get('authorization'), 'Bearer cred-456')
        assert.equal(headers.get('x-a2a-notification-token'), 'tok-123')
        // Before 1.0 the task with its kind, in every binding; since 1.0 exactly one event.
        if (isNew) assert.equal(Object.keys(body).length, 1)
        else assert.deepEqual([body.kind, body.id], ['task', task.id])
      }
      const seqs = delivered.map(({ headers }) => Number(headers.get('a2a-event-id')))
      assert.deepEqual(
        seqs,
        [...new Set(seqs)].sort((a, b) => a - b),
      )
      if (isNew) {
        assert.deepEqual(
          delivered.map((one) => notifiedState(one) ?? one.body.artifactUpdate.artifact.parts[0].text),
          ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'done', 'TASK_STATE_COMPLETED'],
        )
      } else assert.match(JSON.stringify(delivered.at(-1)?.body.artifacts), /done/)
    },
  },
  {
    name: 'a webhook that is set on an existing task is notified of a question, of the end and of a cancel, and not after it is deleted [B-114 B-118 B-119 B-132 B-135]',
    async check(world) {
      const { peer, delivered } = openWithHook(world, asks)
      const form = isLegacy(world.cell) ? '0.x JSON-RPC' : '1.x'
      const { id: taskId } = await sendForTask(peer, 'go')
      await peer.raw.call('CreateTaskPushNotificationConfig', { taskId, id: 'hook', url })
      await sendForTask(peer, 'more', { taskId })
      await waitUntil(async () => endsWith(delivered, stateIn(form, 'TASK_STATE_INPUT_REQUIRED')))
      await peer.cancel(taskId)
      await waitUntil(async () => endsWith(delivered, stateIn(form, 'TASK_STATE_CANCELED')))
      const other = await sendForTask(peer, 'go')
      await peer.raw.call('CreateTaskPushNotificationConfig', { taskId: other.id, id: 'hook', url })
      await peer.raw.call('DeleteTaskPushNotificationConfig', { taskId: other.id, id: 'hook' })
      const before = delivered.length
      await peer.cancel(other.id)
      await sendForTask(peer, 'end', { taskPushNotificationConfig: { url } })
      // The notifications of the last task show that there was time for the other.
      await waitUntil(async () => endsWith(delivered, stateIn(form, 'TASK_STATE_COMPLETED')))
      const late = delivered.slice(before).filter(({ body }) => (body.statusUpdate?.taskId ?? body.id) === other.id)
      assert.deepEqual(late, [])
    },
  },
  {
    name: 'a failing webhook is retried with the same event until it succeeds [B-127 B-128]',
    async check(world) {
      const { peer, delivered } = openWithHook(world, () => 'done', [500, 503, 302])
      const form = isLegacy(world.cell) ? '0.x JSON-RPC' : '1.x'
      await sendForTask(peer, 'go', { taskPushNotificationConfig: { url } })
      await waitUntil(async () => endsWith(delivered, stateIn(form, 'TASK_STATE_COMPLETED')))
      const [first] = delivered
      assert.equal(first?.headers.get('a2a-event-id'), '2')
    },
  },
  {
    name: 'an invalid webhook is refused, with the field as its version spells it [B-129 B-130]',
    async check(world) {
      const { peer } = openWithHook(world, asks)
      const { form, cell } = world
      const { id: taskId } = await sendForTask(peer, 'go')
      const create = (config: object) =>
        peer.raw.call('CreateTaskPushNotificationConfig', { taskId, id: 'hook', url, ...config })
      const own = form === '1.x' ? '' : 'pushNotificationConfig.'
      const bad = assertRefused(cell, await create({ url: 'ftp://hooks.example.com/' }), 'INVALID_PARAMS')
      assert.deepEqual(bad.fields, [`${own}url`])
      const split = assertRefused(cell, await create({ token: 'a\r\nX-Evil: 1' }), 'INVALID_PARAMS')
      assert.deepEqual(split.fields, [`${own}token`])
      const configuration = { taskPushNotificationConfig: { url: 'hook' } }
      const inline = await peer.raw.call('SendMessage', { ...messageParams('hi'), configuration })
      const names = {
        '1.x': 'taskPushNotificationConfig',
        '0.x JSON-RPC': 'pushNotificationConfig',
        '0.x REST': 'pushNotification',
      }
      assert.deepEqual(assertRefused(cell, inline, 'INVALID_PARAMS').fields, [`configuration.${names[form]}.url`])
    },
  },
  {
    name: 'webhooks belong to their owner, and a task has a limited number [B-117 B-130 B-160]',
    async check({ open, cell }) {
      const peer = open(asks, {
        server: {
          push: { fetch: async () => new Response(null, { status: 204 }), configsPerTask: 2 },
          authenticate: ({ header }) => ({ id: header('authorization') ?? 'ann' }),
        },
      })
      const { id: taskId } = await sendForTask(peer, 'go')
      const create = (id: string, headers = {}) =>
        peer.raw.call('CreateTaskPushNotificationConfig', { taskId, id, url }, { headers })
      assertRefused(cell, await create('hook', { authorization: 'bob' }), 'TASK_NOT_FOUND')
      for (const id of ['one', 'two', 'one']) assert.equal((await create(id)).status, 200)
      assertRefused(cell, await create('three'), 'INVALID_PARAMS')
    },
  },
]
