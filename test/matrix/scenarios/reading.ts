/** GetTask and ListTasks: content, history length and pages. */
import assert from 'node:assert/strict'
import { inputRequired } from '@parley/a2a'
import type { ListTasksResponse } from '@parley/a2a/internal'
import type { Cell } from '../cells.ts'
import { assertRefused } from '../assert-refused.ts'
import { sendForTask } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { partsName, messageParams, stateIn, taskIn, isLegacy } from '../spelling.ts'

const onlyNew = ({ version }: Cell): string | undefined =>
  isLegacy({ version }) ? `A2A ${version} has no way to list tasks` : undefined
const onlyOld = ({ version }: Cell): string | undefined =>
  isLegacy({ version }) ? undefined : `A2A ${version} lists tasks, which other scenarios show`

export const reading: readonly Scenario[] = [
  {
    name: 'a task is read unchanged any number of times [B-162 B-6]',
    async check({ open, form }) {
      const peer = open(() => 'done')
      const sent = await sendForTask(peer, 'go')
      assert.deepEqual(await peer.get(sent.id), sent)
      const first = await peer.raw.call('GetTask', { id: sent.id })
      assert.equal(first.payload.status.state, stateIn(form, 'TASK_STATE_COMPLETED'))
      assert.equal(first.payload.kind, form === '0.x JSON-RPC' ? 'task' : undefined)
      assert.equal(
        first.headers.get('cache-control'),
        form === '1.x' || form === '0.x REST' ? cacheOf(peer.cellBinding.binding) : null,
      )
      const second = await peer.raw.call('GetTask', { id: sent.id })
      assert.deepEqual(second.payload, first.payload)
    },
  },
  {
    name: 'an unknown task is not found, and the error names it [B-54 B-111]',
    async check({ open, cell }) {
      const peer = open(() => 'done')
      const refusal = assertRefused(cell, await peer.raw.call('GetTask', { id: 'nowhere' }), 'TASK_NOT_FOUND')
      assert.deepEqual([refusal.message, refusal.details], ['Task not found', { taskId: 'nowhere' }])
    },
  },
  {
    name: 'historyLength limits the latest messages in sends, reads and streams; 0 omits the key [B-73 B-75 B-76]',
    async check({ open, form }) {
      const peer = open(() => inputRequired('and?'))
      const { id } = await sendForTask(peer, '1')
      await peer.send('2', { taskId: id })
      // 1, and?, 2: the last question is the status, not yet history.
      const shown = async (historyLength?: number) => {
        const { payload } = await peer.raw.call('GetTask', {
          id,
          ...(historyLength !== undefined ? { historyLength } : {}),
        })
        return payload.history?.map((message: any) => message[partsName(form)][0].text)
      }
      assert.deepEqual(await shown(), ['1', 'and?', '2'])
      assert.deepEqual(await shown(2), ['and?', '2'])
      assert.deepEqual(await shown(9), ['1', 'and?', '2'])
      // The format of 0.x REST cannot distinguish 0 from an unset value.
      assert.deepEqual(await shown(0), form === '0.x REST' ? ['1', 'and?', '2'] : undefined)
      const sent = await sendForTask(peer, '3', { taskId: id, historyLength: 1 })
      assert.deepEqual(
        sent.history?.map(({ parts }) => parts),
        [[{ text: '3' }]],
      )
      const { frames } = await peer.raw.stream('SendStreamingMessage', {
        ...messageParams('4', { taskId: id }),
        configuration: { historyLength: 1 },
      })
      assert.deepEqual(taskIn(form, frames[0]?.payload).history.length, 1)
      assert.equal((await shown()).length, 7)
    },
  },
  {
    name: 'an invalid history length is refused by field [B-74]',
    async check({ open, cell }) {
      const peer = open(() => 'done')
      const { id } = await sendForTask(peer, 'go')
      // A field of protobuf that holds an integer cannot hold anything else.
      for (const historyLength of cell.binding === 'GRPC' ? [-1] : [-1, 1.5]) {
        const answer = await peer.raw.call('GetTask', { id, historyLength })
        assert.deepEqual(assertRefused(cell, answer, 'INVALID_PARAMS').fields, ['historyLength'])
      }
    },
  },
  {
    name: 'tasks are listed newest first, page by page, without loss or repetition [B-78 B-79 B-80 B-84 B-85 J-8]',
    skip: onlyNew,
    async check({ open }) {
      const peer = open(() => 'done')
      const made: string[] = []
      for (let n = 0; n < 7; n++) made.unshift((await sendForTask(peer, String(n))).id)
      const listed: string[] = []
      let page: ListTasksResponse | undefined
      do {
        const pageToken = page?.nextPageToken
        const request = { pageSize: 3, ...(pageToken !== undefined ? { pageToken } : {}) }
        const { payload } = await peer.raw.call('ListTasks', request)
        page = payload as ListTasksResponse
        assert.deepEqual(Object.keys(page).sort(), ['nextPageToken', 'pageSize', 'tasks', 'totalSize'])
        assert.deepEqual([page.pageSize, page.totalSize], [3, 7])
        listed.push(...page.tasks.map(({ id }) => id))
      } while (page.nextPageToken !== '')
      assert.deepEqual(listed, made)
      assert.equal((await peer.wire.call('ListTasks', {})).pageSize, 50)
    },
  },
  {
    name: 'filters are combined; artifacts are included on request, and history up to the requested length [B-81 B-82 B-83 B-73]',
    skip: onlyNew,
    async check({ open, cell }) {
      const peer = open(({ text }) => (text === 'ask' ? inputRequired('and?') : text === 'none' ? undefined : 'done'))
      await peer.send('ask', { contextId: 'one' })
      const done = await sendForTask(peer, 'tell', { contextId: 'one' })
      await peer.send('none', { contextId: 'two' })
      const texts = async (request: object) =>
        (await peer.list(request)).map(({ history }) =>
          history?.map(({ parts }) => ('text' in parts[0]! ? parts[0].text : '')).join(),
        )
      assert.deepEqual(await texts({ contextId: 'one' }), ['tell', 'ask'])
      assert.deepEqual(await texts({ contextId: 'one', status: 'TASK_STATE_COMPLETED' }), ['tell'])
      assert.deepEqual(await texts({ status: 'TASK_STATE_INPUT_REQUIRED' }), ['ask'])
      assert.deepEqual(await texts({ status: 'TASK_STATE_UNSPECIFIED' }), ['none', 'tell', 'ask'])
      assert.deepEqual(await texts({ contextId: 'three' }), [])
      const since = { statusTimestampAfter: done.status.timestamp ?? '' }
      assert.ok((await texts(since)).includes('tell'))
      assert.deepEqual(await texts({ statusTimestampAfter: '2999-01-01T00:00:00Z' }), [])
      const { payload: bare } = await peer.raw.call('ListTasks', { historyLength: 0 })
      assert.ok(bare.tasks.every((task: object) => !('artifacts' in task) && !('history' in task)))
      const { payload: full } = await peer.raw.call('ListTasks', { includeArtifacts: true })
      assert.deepEqual(
        // In protobuf an empty list and none are the same bytes.
        full.tasks.map(({ artifacts }: any) => (cell.binding === 'GRPC' ? (artifacts ?? []) : artifacts).length),
        [0, 1, 0],
      )
    },
  },
  {
    name: 'an invalid list request is refused by field [B-80 B-81]',
    skip: onlyNew,
    async check({ open, cell }) {
      const peer = open(() => 'done')
      const wrong: Record<string, unknown>[] = [
        { pageSize: 0 },
        { pageSize: 101 },
        { pageToken: 'made.up.token' },
        { historyLength: -1 },
        // Protobuf cannot express these.
        ...(cell.binding === 'GRPC' ? [] : [{ status: 'TASK_STATE_BUSY' }, { statusTimestampAfter: 'yesterday' }]),
      ]
      for (const request of wrong) {
        const answer = await peer.raw.call('ListTasks', request)
        assert.deepEqual(assertRefused(cell, answer, 'INVALID_PARAMS').fields, Object.keys(request))
      }
    },
  },
  {
    name: 'a version without lists refuses the method or the path [B-87]',
    skip: (cell) => onlyOld(cell) ?? (cell.binding === 'GRPC' ? absentRpc : undefined),
    async check({ open, cell }) {
      const peer = open(() => 'done')
      const { status, headers, body } =
        cell.binding === 'JSONRPC'
          ? await read(await peer.raw.fetch('/', rpc('tasks/list')))
          : await read(await peer.raw.fetch('/v1/tasks'))
      assertRefused(cell, { status, headers, body, payload: undefined }, 'METHOD_NOT_FOUND')
    },
  },
]

/** Only responses to GET can be cached by intermediaries. */
const cacheOf = (binding: Cell['binding']): string | null => (binding === 'HTTP+JSON' ? 'no-store' : null)
const absentRpc = 'the service of 0.x has no such rpc, which the tests of the gRPC server show'

function rpc(method: string): RequestInit {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: {} })
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body }
}

async function read(response: Response) {
  return { status: response.status, headers: response.headers, body: await response.json() }
}
