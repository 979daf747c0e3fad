/** Invalid requests: the error of each, and the version of its format. */
import { newestVersion, versionIds } from '@parley/a2a/internal'
import assert from 'node:assert/strict'
import type { Cell } from '../cells.ts'
import { assertRefused } from '../assert-refused.ts'
import type { RawAnswer } from '../raw-client.ts'
import type { Scenario } from '../scenario.ts'
import { partsName, messageBodyIn, messageParams, stateIn, taskIn, isLegacy } from '../spelling.ts'

const json = { 'content-type': 'application/json' }

const noHttp = ({ binding }: Cell): string | undefined =>
  binding === 'GRPC'
    ? 'gRPC has neither paths nor envelopes of its own; the tests of its server show the like'
    : undefined

export const requests: readonly Scenario[] = [
  {
    name: 'every missing or invalid field is named as the caller spelled it [B-38 B-39 J-9 J-12 T-17 S2-21]',
    async check({ open, cell, form }) {
      const peer = open(() => 'done')
      const parts = partsName(form)
      const two = form === '0.x REST' ? { text: 'a', data: { data: {} } } : { text: 'a', data: {} }
      type Case = [bend: (message: any) => object, fields: string[]]
      const missing: Case[] = [
        [({ messageId: _, ...rest }) => rest, ['message.messageId']],
        [(message) => ({ ...message, messageId: '' }), ['message.messageId']],
        [({ role: _, ...rest }) => rest, ['message.role']],
        [(message) => ({ ...message, [parts]: [] }), [`message.${parts}`]],
        [(message) => ({ ...message, [parts]: [{}] }), [`message.${parts}[0]`]],
      ]
      // Protobuf cannot express these: a field of another type, an unknown name, two members of a oneof.
      const wrong: Case[] = [
        [({ messageId: _, ...rest }) => ({ ...rest, message_id: 7 }), ['message.message_id']],
        [(message) => ({ ...message, role: 'boss' }), ['message.role']],
        [(message) => ({ ...message, [parts]: [{ text: 'a' }, two] }), [`message.${parts}[1]`]],
        [(message) => ({ ...message, [parts]: [{}], metadata: [] }), [`message.${parts}[0]`, 'message.metadata']],
      ]
      for (const [bend, fields] of [...missing, ...(cell.binding === 'GRPC' ? [] : wrong)]) {
        const answer = await peer.raw.call('SendMessage', messageParams('hi'), {
          bend: (payload) => ({ ...payload, message: bend(payload.message) }),
        })
        const refusal = assertRefused(cell, answer, 'INVALID_PARAMS')
        assert.deepEqual([...refusal.fields].sort(), [...fields].sort(), refusal.message)
        for (const field of fields) assert.ok(refusal.message.includes(field), refusal.message)
      }
      const without = await peer.raw.call('SendMessage', messageParams('hi'), { bend: () => ({}) })
      assert.deepEqual(assertRefused(cell, without, 'INVALID_PARAMS').fields, ['message'])
    },
  },
  {
    name: 'a message with the role of the agent, or with an invalid file, is refused [B-39]',
    async check({ open, cell, form }) {
      const peer = open(() => 'done')
      const own = await peer.raw.call('SendMessage', messageParams('hi', { role: 'ROLE_AGENT' }))
      assert.deepEqual(assertRefused(cell, own, 'INVALID_PARAMS').fields, ['message.role'])
      const file = await peer.raw.call('SendMessage', messageParams('', { parts: [{ url: 'file:///etc/passwd' }] }))
      const spelled = {
        '1.x': 'parts[0].url',
        '0.x JSON-RPC': 'parts[0].file.uri',
        '0.x REST': 'content[0].file.fileWithUri',
      }
      assert.equal(assertRefused(cell, file, 'INVALID_PARAMS').fields[0], `message.${spelled[form]}`)
    },
  },
  {
    name: 'unknown fields are ignored, snake_case is accepted, and unset fields are not written [J-1 J-10]',
    async check({ open, form }) {
      const peer = open(({ message }) => ({ data: message.metadata ?? null }))
      const { payload, body } = await peer.raw.call('SendMessage', messageParams('hi'), {
        bend: ({ message: { messageId, ...message } }) => ({
          message: { ...message, message_id: messageId, surprise: 1, metadata: { kept: true } },
          later: {},
        }),
      })
      const task = taskIn(form, payload)
      assert.match(JSON.stringify(task.artifacts), /"kept":true/)
      assert.doesNotMatch(JSON.stringify(body), /surprise|later|_id"/)
    },
  },
  {
    name: 'an unknown method is named in the error, under the id of its request; an unknown path is not found [B-37 F-1 S2-20 S4-5]',
    skip: noHttp,
    async check({ open, cell }) {
      const peer = open(() => 'done')
      if (cell.binding === 'HTTP+JSON') {
        assertRefused(
          cell,
          await read(await peer.raw.fetch(`${isLegacy(cell) ? '/v1' : ''}/nothing`)),
          'METHOD_NOT_FOUND',
        )
        return
      }
      const answer = await read(
        await peer.raw.fetch('/', post({ jsonrpc: '2.0', id: 'seven', method: 'no/such', params: {} })),
      )
      assert.equal(assertRefused(cell, answer, 'METHOD_NOT_FOUND').details['method'], 'no/such')
      assert.equal(answer.body.id, 'seven')
    },
  },
  {
    name: 'a body that is not JSON is a parse error, and an invalid envelope is an invalid request [B-35 B-36 F-2 S2-19 S4-6]',
    skip: noHttp,
    async check({ open, cell }) {
      const peer = open(() => 'done')
      const path = cell.binding === 'JSONRPC' ? '/' : `${isLegacy(cell) ? '/v1' : ''}/message:send`
      const broken = await read(await peer.raw.fetch(path, { method: 'POST', headers: json, body: '{"a":' }))
      assertRefused(cell, broken, 'PARSE_ERROR')
      if (cell.binding === 'HTTP+JSON') return
      assert.equal(broken.body.id, null)
      const odd: [unknown, unknown][] = [
        [[], null],
        [
          {
            jsonrpc: '2.0',
            method: isLegacy(cell) ? 'message/send' : 'SendMessage',
            params: messageParams('hi'),
          },
          null,
        ],
        [{ jsonrpc: '1.0', id: 5, method: 'x' }, 5],
        [{ jsonrpc: '2.0', id: 5 }, 5],
        [{ jsonrpc: '2.0', id: {}, method: 'x' }, null],
      ]
      for (const [envelope, id] of odd) {
        const answer = await read(await peer.raw.fetch('/', post(envelope)))
        assertRefused(cell, answer, 'INVALID_REQUEST')
        assert.equal(answer.body.id, id)
      }
    },
  },
  {
    name: 'an unsupported version is refused in the newest format, with the supported ones; patch numbers are ignored [B-4 B-5 B-7]',
    async check({ open, cell, form }) {
      let runs = 0
      const peer = open(() => String((runs += 1)))
      for (const version of ['0.5', '2.0', 'v1', '1.0, 0.3']) {
        const answer = await peer.raw.call('SendMessage', messageParams('hi'), { headers: { 'A2A-Version': version } })
        const refusal = assertRefused({ ...cell, version: newestVersion }, answer, 'VERSION_NOT_SUPPORTED')
        assert.equal(refusal.details['supportedVersions'], versionIds.join(','))
      }
      assert.equal(runs, 0)
      const headers = { 'A2A-Version': `${cell.version}.7` }
      const { payload, headers: answered } = await peer.raw.call('SendMessage', messageParams('hi'), { headers })
      assert.equal(taskIn(form, payload).status.state, stateIn(form, 'TASK_STATE_COMPLETED'))
      assert.equal(answered.get('a2a-version'), cell.version)
    },
  },
  {
    name: 'without a header the method or the path selects the version, or the query does [B-2 B-3 B-10 B-11]',
    skip: noHttp,
    async check({ open, cell, form }) {
      const peer = open(() => 'done')
      const isNew = !isLegacy(cell)
      const path = cell.binding === 'JSONRPC' ? '/' : isNew ? '/message:send' : '/v1/message:send'
      const params = messageBodyIn(form, crypto.randomUUID(), 'hi')
      const method = isNew ? 'SendMessage' : 'message/send'
      const body = JSON.stringify(cell.binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 1, method, params } : params)
      const ask = async (query: string) => {
        const request = new Request(`http://agent.test${path}${query}`, { method: 'POST', headers: json, body })
        const response = await peer.fetch(request)
        return { version: response.headers.get('a2a-version'), text: await response.text() }
      }
      const silent = await ask('')
      assert.equal(silent.version, isNew ? newestVersion : '0.3')
      assert.ok(silent.text.includes(`"${stateIn(form, 'TASK_STATE_COMPLETED')}"`), silent.text)
      assert.equal((await ask(`?A2A-Version=${cell.version}`)).version, cell.version)
    },
  },
  {
    name: 'a body over the limit is refused with 413, in the shape of its binding [B-41 F-3]',
    skip: ({ binding }) => (binding === 'GRPC' ? 'the transport refuses it before we see it' : undefined),
    async check({ open, cell }) {
      const peer = open(() => 'done', { server: { limits: { bodyBytes: 1_000 } } })
      assertRefused(cell, await peer.raw.call('SendMessage', messageParams('x'.repeat(2_000))), 'PAYLOAD_TOO_LARGE')
      assert.equal((await peer.raw.call('SendMessage', messageParams('x'))).status, 200)
    },
  },
  {
    name: 'a body with more JSON values than the limit is refused with 413, and one at the limit is accepted [B-41 F-3]',
    async check({ open, cell }) {
      // A message has other values beside its data, more or fewer per version and binding: 100 are enough for all.
      const data = (count: number) =>
        messageParams('', { parts: [{ data: { list: Array.from({ length: count }, () => ({})) } }] })
      const peer = open(() => 'done', { server: { limits: { jsonNodes: 1_000 } } })
      assert.equal((await peer.raw.call('SendMessage', data(900))).status, 200)
      const refused = await peer.raw.call('SendMessage', data(1_000))
      assertRefused(cell, refused, 'PAYLOAD_TOO_LARGE')
      assert.equal((await peer.raw.call('SendMessage', messageParams('x'))).status, 200)
    },
  },
  {
    name: 'too many parts, and too deep metadata, are refused by field [B-41]',
    async check({ open, cell, form }) {
      const peer = open(() => 'done', { server: { limits: { parts: 2, metadataDepth: 3 } } })
      const many = await peer.raw.call(
        'SendMessage',
        messageParams('', { parts: [{ text: '1' }, { text: '2' }, { text: '3' }] }),
      )
      assert.deepEqual(assertRefused(cell, many, 'INVALID_PARAMS').fields, [`message.${partsName(form)}`])
      const deep = await peer.raw.call('SendMessage', messageParams('hi', { metadata: { a: { b: { c: { d: 1 } } } } }))
      assert.deepEqual(assertRefused(cell, deep, 'INVALID_PARAMS').fields, ['message.metadata'])
    },
  },
]

function post(document: unknown): RequestInit {
  return { method: 'POST', headers: json, body: JSON.stringify(document) }
}

async function read(response: Response): Promise<RawAnswer> {
  return { status: response.status, headers: response.headers, body: await response.json(), payload: undefined }
}
