/** Every operation over every binding, in 1.0 and 0.3, at a server with its tasks in a file: the measured process. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Agent, inputRequired, newId, reply, type Report, status } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import type { RawAnswer, RawClient } from '../matrix/raw-client.ts'
import { isFull, type LeakCase, measureAll } from './measure.ts'
import { type BindingVersion, bindingVersions, createAgentPeer } from '../matrix/agent-peer.ts'

const agent: Agent = async function* ({ text, signal }): AsyncGenerator<Report, void, void> {
  if (text === 'throw') throw new Error('no')
  if (text === 'reply') return yield reply('Hi')
  if (text === 'ask') return yield inputRequired('Which?')
  if (text === 'work') {
    yield status('At work')
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    return
  }
  yield 'You said: '
  yield text
}

const folder = mkdtempSync(join(tmpdir(), 'parley-leaks-'))
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const server = await serve({
  port: 0,
  grpcPort: 0,
  store: sqliteStore({ file: join(folder, 'tasks.db'), durability: 'normal' }),
  log: silent,
  push: { allow: ['127.0.0.1'] },
  allowAnonymousList: true,
  limits: { tasksPerCaller: Infinity },
  agents: { echo: { agent, extendedCard: () => ({ description: 'More' }) } },
})

/** Receives notifications, and resolves the wait for the last one of a task. */
const waiting = new Map<string, () => void>()
const receiver = createServer((request, response) => {
  let body = ''
  request.on('data', (piece: Buffer) => (body += piece.toString()))
  request.on('end', () => {
    response.writeHead(204).end()
    if (/completed/i.test(body)) waiting.get(String(request.url))?.()
  })
})
await once(receiver.listen(0, '127.0.0.1'), 'listening')
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

const sendParams = (text: string, configuration?: object) => ({
  message: { messageId: newId(), role: 'ROLE_USER' as const, parts: [{ text }] },
  ...(configuration !== undefined ? { configuration } : {}),
})

const taskIn = ({ payload, status: code, body }: RawAnswer): { id: string } => {
  const task = payload?.task ?? payload
  assert.ok(task?.id, `${code} ${JSON.stringify(body)}`)
  return task
}
const isRefused = ({ status: code, body }: RawAnswer): boolean =>
  (code !== 200 && code !== 0) || body?.error !== undefined

/** What the quick mode measures: each binding and each version once. */
const inShort: readonly string[] = ['JSONRPC 1.0', 'HTTP+JSON 0.3', 'GRPC 1.0']
/** Between 1,000 and 2,000 messages are remembered: more than the quick mode sends. turns.full.test.ts does. */
const isSlowToFill = (name: string): boolean => name.endsWith('by a Message')

async function casesOf(bindingVersion: BindingVersion): Promise<readonly LeakCase[]> {
  const peer: RawClient = createAgentPeer({ url: server.url, grpcPort: server.grpcPort, agent: 'echo' }, bindingVersion)
  const ok = async (work: Promise<RawAnswer>): Promise<RawAnswer> => {
    const answer = await work
    assert.ok(!isRefused(answer), JSON.stringify(answer.body))
    return answer
  }
  const refused = async (work: Promise<RawAnswer>): Promise<void> => assert.ok(isRefused(await work))
  const send = (text: string, configuration?: object): Promise<RawAnswer> =>
    ok(peer.call('SendMessage', sendParams(text, configuration)))
  const begin = async (): Promise<string> => taskIn(await send('work', { returnImmediately: true })).id
  const cancel = (id: string): Promise<RawAnswer> => ok(peer.call('CancelTask', { id }))
  const { id: finished } = taskIn(await send('hello'))
  const { id: asking } = taskIn(await send('ask'))
  const hook = (id: string, url = `${receiverUrl}/never`) => ({ taskId: asking, id, url })

  const operations: Readonly<Record<string, (index: number) => Promise<unknown>>> = {
    SendMessage: () => send('hello'),
    'SendMessage, answered by a Message': () => send('reply'),
    'SendMessage, failed': () => send('throw'),
    'SendMessage, repeated': async () => {
      const request = sendParams('hello')
      await ok(peer.call('SendMessage', request))
      await ok(peer.call('SendMessage', request))
    },
    'SendMessage, asked back and continued': async () => {
      const { id: taskId } = taskIn(await send('ask'))
      const { message } = sendParams('hello')
      await ok(peer.call('SendMessage', { message: { ...message, taskId } }))
    },
    'SendMessage, refused': () =>
      refused(peer.call('SendMessage', { message: { ...sendParams('').message, parts: [] } })),
    'SendMessage with a webhook': async () => {
      const path = `/${newId()}`
      const notified = new Promise<void>((resolve) => waiting.set(path, resolve))
      const config = { url: `${receiverUrl}${path}`, token: 'secret' }
      await send('hello', { taskPushNotificationConfig: config })
      await notified
      waiting.delete(path)
    },
    SendStreamingMessage: async () => {
      const { frames } = await peer.stream('SendStreamingMessage', sendParams('hello'))
      assert.ok(frames.length > 1)
    },
    GetTask: () => ok(peer.call('GetTask', { id: finished })),
    'GetTask, refused': () => refused(peer.call('GetTask', { id: newId() })),
    CancelTask: async () => cancel(await begin()),
    'CancelTask, refused': () => refused(peer.call('CancelTask', { id: finished })),
    SubscribeToTask: async () => {
      const id = await begin()
      const reading = peer.stream('SubscribeToTask', { id })
      await cancel(id)
      // A subscription after the end is refused.
      await reading.catch(() => {})
    },
    // Refused in 1.0; 0.3 returns the final state.
    'SubscribeToTask, of a finished task': () => peer.call('SubscribeToTask', { id: finished }),
    'push notification configs': async (index) => {
      const id = `hook-${index}`
      await ok(peer.call('CreateTaskPushNotificationConfig', hook(id)))
      await ok(peer.call('GetTaskPushNotificationConfig', { taskId: asking, id }))
      await ok(peer.call('ListTaskPushNotificationConfigs', { taskId: asking }))
      await ok(peer.call('DeleteTaskPushNotificationConfig', { taskId: asking, id }))
    },
    GetExtendedAgentCard: () => peer.call('GetExtendedAgentCard', {}),
    ...(bindingVersion.version === '1.0' ? { ListTasks: () => ok(peer.call('ListTasks', { pageSize: 3 })) } : {}),
    ...(bindingVersion.binding !== 'GRPC'
      ? {
          'the agent card': async () => {
            const response = await peer.fetch('/.well-known/agent-card.json')
            assert.ok((await response.text()).length > 0 && response.ok)
          },
          'a body that is no JSON': async () => {
            const response = await peer.fetch('/', {
              method: 'POST',
              body: '{',
              headers: { 'content-type': 'application/json' },
            })
            await response.text()
          },
        }
      : {}),
  }
  const where = `${bindingVersion.binding} ${bindingVersion.version}`
  const each = Object.entries(operations).map(([name, run]) => ({ name: `${where}: ${name}`, run, fullOnly: true }))
  // One of each, many times: a leak of one of them repeats with each round.
  const round: LeakCase = {
    name: `${where}: every operation`,
    slowness: 2,
    fullOnly: !inShort.includes(where),
    async run(index) {
      for (const [name, run] of Object.entries(operations)) if (!isSlowToFill(name)) await run(index)
    },
  }
  return isFull ? each : [round, ...each]
}

try {
  for (const bindingVersion of bindingVersions) await measureAll(await casesOf(bindingVersion))
} finally {
  await server.close()
  receiver.close()
  receiver.closeAllConnections()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
