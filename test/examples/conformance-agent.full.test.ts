/** What the kits rely on: each prefix runs its scenario, and each flag affects the card and the answers. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Message, Part, Task } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { testAgent } from '@parley/a2a/testing'
import { root, runProgram } from './program.ts'
import type { Program } from './program.ts'
import { openEnded } from '../../examples/conformance-agent/open-ended.ts'
import { scripted } from '../../examples/conformance-agent/scripted.ts'

const prefixed = (prefix: string) => ({ messageId: `${prefix}-5f3a`, parts: [{ text: 'go' }] })

async function answerTo(prefix: string): Promise<{ state?: string; said?: string; parts?: readonly Part[] }> {
  const agent = testAgent(scripted, { idempotency: 'off' })
  const answer: Task | Message = await agent.send(prefixed(prefix))
  await agent.close()
  if (!('status' in answer)) return { parts: answer.parts }
  const [first] = answer.status.message?.parts ?? []
  const parts = answer.artifacts?.flatMap((each) => each.parts)
  return {
    state: answer.status.state.replace('TASK_STATE_', ''),
    ...(first !== undefined && 'text' in first ? { said: first.text } : {}),
    ...(parts !== undefined ? { parts } : {}),
  }
}

describe('the agent of the 1.0 kit', () => {
  const file = { filename: 'output.txt', mediaType: 'text/plain' }
  const expected = {
    'tck-complete-task': { state: 'COMPLETED', said: 'Hello from TCK' },
    'tck-artifact-text': { state: 'COMPLETED', parts: [{ text: 'Generated text content' }] },
    'tck-artifact-file': { state: 'COMPLETED', parts: [{ raw: 'dGNr', ...file }] },
    'tck-artifact-file-url': { state: 'COMPLETED', parts: [{ url: 'https://example.com/output.txt', ...file }] },
    'tck-artifact-data': { state: 'COMPLETED', parts: [{ data: { key: 'value', count: 42 } }] },
    'tck-message-response': { parts: [{ text: 'Direct message response' }] },
    'tck-input-required': { state: 'INPUT_REQUIRED', said: 'What else?' },
    'tck-auth-required': { state: 'AUTH_REQUIRED', said: 'Prove who you are, then write again.' },
    'tck-reject-task': { state: 'REJECTED', said: 'rejected' },
    'tck-stream-artifact-chunked': { state: 'COMPLETED', parts: [{ text: 'chunk-1 chunk-2' }] },
    'anything-else': { state: 'COMPLETED', said: 'Hello from TCK' },
  }
  for (const [prefix, answer] of Object.entries(expected)) {
    it(`answers ${prefix}-… as its scenario says`, async () => assert.deepEqual(await answerTo(prefix), answer))
  }

  it('streams states, and chunks one by one', async () => {
    const agent = testAgent(scripted)
    const states = await agent.stream(prefixed('tck-stream-001')).states()
    assert.deepEqual(states, ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'])
    const chunks = await Array.fromAsync(agent.stream(prefixed('tck-stream-artifact-chunked')).text())
    assert.deepEqual(chunks, ['chunk-1 ', 'chunk-2'])
    await agent.close()
  })

  it('accepts one messageId for many messages, as the kit sends them', async () => {
    const agent = testAgent(scripted, { idempotency: 'off' })
    const first = (await agent.send(prefixed('tck-input-required'))) as Task
    const second = (await agent.send(prefixed('tck-input-required'))) as Task
    assert.notEqual(first.id, second.id)
    const again = (await agent.send(prefixed('tck-input-required'), { taskId: first.id })) as Task
    assert.equal(again.history?.filter(({ role }) => role === 'ROLE_USER').length, 2)
    await agent.close()
  })
})

describe('the agent of the older kits', () => {
  it('leaves a task open, to be continued or canceled', async () => {
    const agent = testAgent(openEnded, { server: { limits: { waitMs: 50 } } }).as('0.3')
    const task = (await agent.send('hi')) as Task
    assert.equal(task.status.state, 'TASK_STATE_WORKING')
    assert.equal((await agent.cancel(task.id)).status.state, 'TASK_STATE_CANCELED')
    await agent.close()
  })
})

describe('the program', () => {
  const run = (...args: string[]): Promise<Program> =>
    runProgram(join(root, 'examples/conformance-agent/main.ts'), {}, undefined, args)
  const card = async (program: Program) =>
    (await (await fetch(`${program.url}/.well-known/agent-card.json`)).json()) as {
      protocolVersion?: string
      supportedInterfaces?: unknown[]
      defaultInputModes: string[]
      capabilities: {
        streaming: boolean
        pushNotifications: boolean
        extensions?: { uri: string; required?: boolean }[]
      }
    }

  it('serves the card of its profile, streams, and requires nothing', async () => {
    await using program = await run()
    const { protocolVersion, supportedInterfaces, capabilities } = await card(program)
    assert.deepEqual([protocolVersion, supportedInterfaces?.length], [undefined, 4])
    assert.equal(capabilities.streaming, true)
    assert.equal(capabilities.extensions, undefined)
  })

  it('serves gRPC if configured, and its card has host and port [B-8]', async () => {
    await using program = await run('--grpc-port', '9998')
    const { supportedInterfaces = [] } = await card(program)
    const grpcInterfaces = (supportedInterfaces as { protocolBinding: string; url: string }[]).filter(
      ({ protocolBinding }) => protocolBinding === 'GRPC',
    )
    assert.equal(grpcInterfaces.length, 2)
    const binding = grpc()
    const agent = await connect(program.url, { bindings: [binding], prefer: ['GRPC'] })
    assert.equal(agent.interface.protocolBinding, 'GRPC')
    assert.match(agent.interface.url, /^127\.0\.0\.1:\d+$/)
    assert.equal((await agent.send({ ...prefixed('tck-complete-task'), role: 'ROLE_USER' })).kind, 'task')
    binding.close()
  })

  it('follows its flags', async () => {
    await using program = await run('--profile', '0.3', '--no-streaming', '--required-extension', 'urn:x')
    const { protocolVersion, supportedInterfaces, capabilities } = await card(program)
    assert.deepEqual([protocolVersion, supportedInterfaces], ['0.3.0', undefined])
    assert.equal(capabilities.streaming, false)
    assert.deepEqual(
      capabilities.extensions?.filter(({ required }) => required === true),
      [{ uri: 'urn:x', required: true }],
    )
  })

  it('offers webhooks, on this machine if allowed, and none if disabled [B-115 B-129]', async () => {
    const offers = async (...flags: string[]): Promise<readonly [boolean, number]> => {
      await using program = await run(...flags)
      const { capabilities } = await card(program)
      const message = { messageId: 'tck-complete-task', role: 'ROLE_USER', parts: [{ text: 'hi' }] }
      const configuration = { taskPushNotificationConfig: { url: 'http://localhost:9/webhook' } }
      const params = { message, configuration }
      const response = await fetch(program.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'A2A-Version': '1.0' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }),
      })
      const { error } = (await response.json()) as { error?: { code: number } }
      return [capabilities.pushNotifications, error?.code ?? 0]
    }
    assert.deepEqual(await offers('--allow-loopback-webhooks'), [true, 0])
    assert.deepEqual(await offers(), [true, -32_602])
    assert.deepEqual(await offers('--no-push'), [false, -32_003])
  })

  it('serves its extended card with the token, and rejects wrong tokens', async () => {
    await using program = await run('--extended-card')
    const status = async (authorization?: string): Promise<number> => {
      const headers = { 'A2A-Version': '1.0', ...(authorization !== undefined ? { authorization } : {}) }
      return (await fetch(`${program.url}/extendedAgentCard`, { headers })).status
    }
    assert.deepEqual(
      [await status('Bearer conformance'), await status('Bearer guessed'), await status()],
      [200, 401, 401],
    )
  })

  it('requires the token if configured, and serves its card without one', async () => {
    await using program = await run('--require-token')
    const { capabilities } = await card(program)
    assert.equal(capabilities.streaming, true)
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${program.url}/tasks`, { headers: { 'A2A-Version': '1.0', ...headers } })).status
    assert.deepEqual([await status({}), await status({ authorization: 'Bearer conformance' })], [401, 200])
  })

  it('lists kinds of parts among its media types, where the 0.3 kit looks for them', async () => {
    await using program = await run('--profile', '0.3')
    const { defaultInputModes } = await card(program)
    assert.deepEqual(defaultInputModes.slice(-3), ['text', 'file', 'data'])
  })
})
