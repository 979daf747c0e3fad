/** Undeclared capabilities are refused: webhooks, extended cards, media types. Declared extensions are confirmed. */
import assert from 'node:assert/strict'
import { A2AError } from '@parley/a2a'
import { assertRefused } from '../assert-refused.ts'
import type { Scenario } from '../scenario.ts'
import { sendForTask } from '../scenario.ts'
import { partsName, messageParams, isLegacy } from '../spelling.ts'

const uri = 'https://example.com/extensions/mood/v1'

export const capabilities: readonly Scenario[] = [
  {
    name: 'without push notifications all four operations are refused, and so is a webhook inside a send [B-115 B-71 T-6]',
    async check({ open, cell }) {
      let runs = 0
      const peer = open(() => String((runs += 1)))
      const { id: taskId } = await sendForTask(peer, 'go')
      const config = { taskId, id: 'hook', url: 'https://example.com/hook' }
      const key = { taskId, id: 'hook' }
      const answers = [
        await peer.raw.call('CreateTaskPushNotificationConfig', config),
        await peer.raw.call('GetTaskPushNotificationConfig', key),
        await peer.raw.call('ListTaskPushNotificationConfigs', { taskId }),
        await peer.raw.call('DeleteTaskPushNotificationConfig', key),
        await peer.raw.call('SendMessage', {
          ...messageParams('hi'),
          configuration: { taskPushNotificationConfig: { url: config.url } },
        }),
      ]
      for (const answer of answers) assertRefused(cell, answer, 'PUSH_NOTIFICATION_NOT_SUPPORTED')
      assert.equal(runs, 1)
    },
  },
  {
    name: 'an undeclared extended card is an unsupported operation [B-136]',
    skip: ({ version, binding }) =>
      version === '0.2' && binding === 'JSONRPC' ? 'A2A 0.2 has no method for it, but a document at a path' : undefined,
    async check({ open, cell }) {
      const peer = open(() => 'done')
      assertRefused(cell, await peer.raw.call('GetExtendedAgentCard', {}), 'UNSUPPORTED_OPERATION')
    },
  },
  {
    name: 'the extended card of 0.2 is a document beside the endpoint: missing, protected, or served [B-136 B-137]',
    skip: ({ version }) => (version === '0.2' ? undefined : `A2A ${version} has an operation for it`),
    async check({ open }) {
      const path = '/agent/authenticatedExtendedCard'
      assert.equal((await open(() => 'done').raw.fetch(path)).status, 404)
      const peer = open(() => 'done', {
        extendedCard: { description: 'for those who know' },
        server: { authenticate: ({ header }) => (header('authorization') === 'Bearer ann' ? { id: 'ann' } : null) },
      })
      assert.equal((await peer.raw.fetch(path)).status, 401)
      const shown = await peer.raw.fetch(path, { headers: { authorization: 'Bearer ann' } })
      assert.equal(((await shown.json()) as any).description, 'for those who know')
    },
  },
  {
    name: 'an extended card is served to authenticated callers, in the shape of their version and as private; a missing one is -32007 [B-136 B-137 B-138 B-140]',
    skip: ({ version, binding }) =>
      version === '0.2' && binding === 'JSONRPC' ? 'A2A 0.2 has no method for it, but a document at a path' : undefined,
    async check({ open, cell }) {
      const peer = open(() => 'done', {
        name: 'Plain',
        extendedCard: ({ id }) => (id === 'ann' ? { name: 'For Ann' } : undefined),
        server: {
          authenticate({ header }) {
            const name = header('authorization')?.replace('Bearer ', '')
            return name === undefined ? null : { id: name }
          },
        },
      })
      const as = (name: string) => ({ headers: { authorization: `Bearer ${name}` } })
      const { payload, headers } = await peer.raw.call('GetExtendedAgentCard', {}, as('ann'))
      assert.equal(payload.name, 'For Ann')
      assert.equal('supportedInterfaces' in payload, !isLegacy(cell))
      if (cell.binding === 'HTTP+JSON') assert.match(headers.get('cache-control') ?? '', /no-store|private/)
      const none = await peer.raw.call('GetExtendedAgentCard', {}, as('bob'))
      assertRefused(cell, none, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED')
      assertRefused(cell, await peer.raw.call('GetExtendedAgentCard', {}), 'UNAUTHENTICATED')
    },
  },
  {
    name: 'a part that the agent does not accept is refused before any work [B-70]',
    async check({ open, cell, form }) {
      let runs = 0
      const peer = open(() => String((runs += 1)), { inputModes: ['text/*', 'image/png'] })
      const attempts = [{ raw: 'AA==', mediaType: 'image/jpeg' }, { url: 'https://example.com/x' }, { data: { a: 1 } }]
      for (const part of attempts) {
        const answer = await peer.raw.call('SendMessage', messageParams('', { parts: [{ text: 'see' }, part] }))
        const refusal = assertRefused(cell, answer, 'CONTENT_TYPE_NOT_SUPPORTED')
        assert.deepEqual(refusal.fields, [`message.${partsName(form)}[1]`])
        assert.equal(refusal.details['supported'], 'text/*, image/png')
      }
      assert.equal(runs, 0)
      const taken = [
        { text: 'x', mediaType: 'text/markdown; charset=utf-8' },
        { raw: 'AA==', mediaType: 'image/png' },
      ]
      assert.equal((await sendForTask(peer, taken)).status.state, 'TASK_STATE_COMPLETED')
    },
  },
  {
    name: 'the output modes that a client accepts are a preference: an agent with others answers in its own [B-69]',
    async check({ open }) {
      const peer = open(() => 'done', { outputModes: ['text/plain'] })
      const task = await sendForTask(peer, 'hi', { acceptedOutputModes: ['application/json'] })
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    },
  },
  {
    name: 'a client that accepts none of the output modes is refused before any work if the agent requires it [B-69]',
    async check({ open, cell }) {
      const peer = open(() => 'done', { outputModes: ['text/plain'], outputModesRequired: true })
      const ask = (...acceptedOutputModes: string[]) =>
        peer.raw.call('SendMessage', { ...messageParams('hi'), configuration: { acceptedOutputModes } })
      const refusal = assertRefused(cell, await ask('image/png'), 'CONTENT_TYPE_NOT_SUPPORTED')
      assert.deepEqual(refusal.fields, ['configuration.acceptedOutputModes'])
      for (const modes of [['image/png', 'text/plain'], ['*/*'], []]) assert.equal((await ask(...modes)).status, 200)
    },
  },
  {
    name: 'a requested and declared extension is active and confirmed by header, others are ignored [B-141 B-143 B-145 T-9]',
    async check({ open, cell }) {
      const peer = open(({ extensions }) => ({ data: [...extensions] }), { extensions: [{ uri }] })
      const name = isLegacy(cell) ? 'X-A2A-Extensions' : 'A2A-Extensions'
      const headers = { [name]: `${uri}, https://example.com/other, ${uri.toUpperCase()}` }
      const answer = await peer.raw.call('SendMessage', messageParams('hi'), { headers })
      assert.equal(answer.headers.get(name), uri)
      assert.match(JSON.stringify(answer.payload.task?.artifacts ?? answer.payload.artifacts), /mood/)
      const stream = await peer.raw.stream('SendStreamingMessage', messageParams('hi'), { headers })
      assert.equal(stream.headers.get(name), uri)
      const quiet = await peer.raw.call('SendMessage', messageParams('hi'))
      assert.equal(quiet.headers.get(name), null)
      assert.doesNotMatch(JSON.stringify(quiet.payload.task?.artifacts ?? quiet.payload.artifacts), /mood/)
    },
  },
  {
    name: 'a required extension that was not requested is refused with its URI, and only for messages [B-144 T-9]',
    async check({ open, cell }) {
      const peer = open(() => 'done', { extensions: [{ uri, required: true }] })
      for (const operation of ['SendMessage', 'SendStreamingMessage'] as const) {
        const refusal = assertRefused(
          cell,
          await peer.raw.call(operation, messageParams('hi')),
          'EXTENSION_SUPPORT_REQUIRED',
        )
        assert.equal(refusal.details['missingExtensions'], uri)
      }
      const name = isLegacy(cell) ? 'X-A2A-Extensions' : 'A2A-Extensions'
      assert.equal((await peer.raw.call('SendMessage', messageParams('hi'), { headers: { [name]: uri } })).status, 200)
      assertRefused(cell, await peer.raw.call('GetTask', { id: 'nowhere' }), 'TASK_NOT_FOUND')
    },
  },
  {
    name: 'a protocol error of an agent before a task exists is the response to the call [B-50 B-168]',
    async check({ open, cell }) {
      const peer = open(() => {
        throw new A2AError('CONTENT_TYPE_NOT_SUPPORTED', 'Only haiku, please')
      })
      const refusal = assertRefused(
        cell,
        await peer.raw.call('SendMessage', messageParams('hi')),
        'CONTENT_TYPE_NOT_SUPPORTED',
      )
      assert.equal(refusal.message, 'Only haiku, please')
    },
  },
]
