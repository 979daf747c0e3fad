import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import type { Agent, Turn } from '../../agents/agent.ts'
import { authRequired, inputRequired } from '../../agents/reports.ts'
import { clientToolsExtension as uri, credentialsExtension } from '../../model/extension.ts'
import type { Json, Message, Struct } from '../../model/task.ts'
import { clientTools, createHandler, credentials, type Handler } from '../../server/index.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { openScriptedPeers } from '../../testing/fixtures/scripted-peer.ts'
import { connect } from '../connect.ts'
import type { ConversationOptions, ConnectOptions, InputRequest } from '../contract.ts'

const openOddPeer = openScriptedPeers()
const handlers: Handler[] = []
after(() => Promise.all(handlers.map((handler) => handler.close())))

async function talkTo(agent: Agent, options: ConnectOptions = {}) {
  const extensions = [clientTools(), credentials()]
  const handler = createHandler({ store: memoryStore(), name: 'Agent', agent, extensions })
  handlers.push(handler)
  return connect('http://agent.test', { fetch: (request) => handler.fetch(request), ...options })
}

const call = (toolUseId: string, name: string, input: Json) => ({
  data: { toolUseId, name, input },
  metadata: { [uri]: { type: 'tool-use' } },
})

/** The results that a message carries, and nothing else. */
function resultsIn({ parts }: Message): Struct[] {
  return parts.flatMap((part) =>
    'data' in part && (part.metadata?.[uri] as Struct | undefined)?.['type'] === 'tool-result'
      ? [part.data as Struct]
      : [],
  )
}

/** Calls tools once and responds with their results. */
function caller(...calls: ReturnType<typeof call>[]): { agent: Agent; messages: Message[] } {
  const messages: Message[] = []
  const agent: Agent = ({ message }: Turn) => {
    messages.push(message)
    const results = resultsIn(message)
    return results.length === 0 ? inputRequired({ parts: calls }) : JSON.stringify(results)
  }
  return { agent, messages }
}

describe('a tool of the client', () => {
  const tools: ConversationOptions['tools'] = {
    position: () => ({ city: 'Lisbon' }),
    add: {
      description: 'Adds two numbers',
      inputSchema: { type: 'object', required: ['a', 'b'] },
      run: async (input) => (input as { a: number; b: number }).a + (input as { a: number; b: number }).b,
    },
    broken: () => {
      throw new Error('the sensor is cold')
    },
    odd: () => 10n,
    silent: () => {},
  }

  for (const [version, binding] of [
    ['1.0', 'JSONRPC'],
    ['1.0', 'HTTP+JSON'],
    ['0.3', 'JSONRPC'],
    ['0.3', 'HTTP+JSON'],
    ['0.2', 'JSONRPC'],
  ] as const) {
    it(`runs when the agent calls it, and the task continues: ${version} ${binding} [S2-13 S2-14]`, async () => {
      const { agent, messages } = caller(call('1', 'position', {}), call('2', 'add', { a: 2, b: 3 }))
      const chat = (await talkTo(agent, { version, prefer: [binding] })).chat({ tools })
      const text = await chat.ask('Where am I?')
      assert.deepEqual(JSON.parse(text), [
        { toolUseId: '1', result: { city: 'Lisbon' } },
        { toolUseId: '2', result: 5 },
      ])
      assert.equal(chat.tasks.size, 1)
      const [taskId] = [...chat.tasks.keys()]
      assert.deepEqual([messages[1]?.taskId, messages[1]?.referenceTaskIds], [taskId, [taskId]])
    })
  }

  it('is sent to the agent with every message, with its description and input schema', async () => {
    let seen: readonly string[] = []
    const { agent, messages } = caller(call('1', 'silent', {}))
    const toolReader: Agent = (turn) => {
      seen = turn.extensions
      return (agent as (turn: Turn) => string)(turn)
    }
    const chat = (await talkTo(toolReader)).chat({ tools })
    await chat.send({ parts: [{ text: 'hi' }], metadata: { mine: 1, [uri]: { more: true } } })
    assert.deepEqual(seen, [uri])
    const listed = [
      { name: 'position' },
      { name: 'add', description: 'Adds two numbers', inputSchema: { type: 'object', required: ['a', 'b'] } },
      { name: 'broken' },
      { name: 'odd' },
      { name: 'silent' },
    ]
    assert.deepEqual(messages[0]?.metadata, { mine: 1, [uri]: { more: true, tools: listed } })
    assert.deepEqual(messages[1]?.metadata, { [uri]: { tools: listed } })
  })

  it('that does not exist, fails or returns invalid JSON is an error that the agent reads', async () => {
    const calls = ['missing', 'toString', 'broken', 'odd', 'silent'].map((name, index) => call(String(index), name, {}))
    const { agent } = caller(...calls)
    const results = JSON.parse(await (await talkTo(agent)).chat({ tools }).ask('go')) as Record<string, any>[]
    assert.deepEqual(
      results.map(({ error, result }) => error?.reason ?? result),
      ['UNKNOWN_TOOL', 'UNKNOWN_TOOL', 'TOOL_EXECUTION_FAILED', 'TOOL_EXECUTION_FAILED', null],
    )
    assert.match(results[0]?.['error'].message, /missing.*position/)
    assert.match(results[2]?.['error'].message, /the sensor is cold/)
  })

  it('gets the name and the id of the call, and a signal that aborts with the caller', async () => {
    const leaving = new AbortController()
    let about: { name: string; toolUseId: string; signal: AbortSignal } | undefined
    const { agent } = caller(call('7', 'wait', { x: 1 }))
    const chat = (await talkTo(agent)).chat({
      tools: {
        wait(_input, given) {
          about = given
          leaving.abort(new Error('enough'))
          return new Promise(() => {})
        },
      },
    })
    await assert.rejects(chat.send('go', { signal: leaving.signal }), /enough/)
    assert.deepEqual([about?.name, about?.toolUseId, about?.signal.aborted], ['wait', '7', true])
  })

  it('is not called if there are none: the user is asked', async () => {
    const { agent } = caller(call('1', 'position', {}))
    const agentHere = await talkTo(agent)
    const questions: InputRequest[] = []
    const chat = agentHere.chat({
      onInputRequired(question) {
        questions.push(question)
        return undefined
      },
    })
    const answer = await chat.send('go')
    assert.ok(answer.kind === 'task' && answer.status.state === 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(questions[0]?.message?.parts.length, 1)
  })
})

describe('a question to the user', () => {
  const asking = (request: Struct): { agent: Agent; messages: Message[] } => {
    const messages: Message[] = []
    const agent: Agent = ({ message }: Turn) => {
      messages.push(message)
      if (resultsIn(message).length > 0) return JSON.stringify(resultsIn(message))
      return inputRequired({ parts: [{ text: 'I need a key' }], metadata: { [uri]: { inputRequest: request } } })
    }
    return { agent, messages }
  }

  it('has its type and whether the answer is a secret, and the answer is its result [S2-13 S2-14]', async () => {
    const { agent, messages } = asking({ kind: 'input-request', requestId: 'in-1', prompt: 'Key:', sensitive: true })
    const questions: InputRequest[] = []
    const chat = (await talkTo(agent)).chat({
      onInputRequired(question) {
        questions.push(question)
        return 'hunter2'
      },
    })
    assert.deepEqual(JSON.parse(await chat.ask('go')), [{ toolUseId: 'in-1', result: 'hunter2' }])
    const [{ requestId, sensitive, text } = {}] = questions
    assert.deepEqual([requestId, sensitive, text], ['in-1', true, 'I need a key'])
    // The secret is only where it is marked as one.
    assert.deepEqual(messages[1]?.parts, [
      { data: { toolUseId: 'in-1', result: 'hunter2' }, metadata: { [uri]: { type: 'tool-result', sensitive: true } } },
    ])
  })

  it('for a secret has its answer in the text of the next turn only [S2-13]', async () => {
    const texts: string[] = []
    const twice: Agent = async function* ({ text, ask }: Turn) {
      texts.push(text)
      if (texts.length === 1) {
        yield inputRequired('Password?', { sensitive: true })
        return
      }
      texts.push(await ask('And the other?', { sensitive: true }))
      yield 'Thank you'
    }
    const here = await talkTo(twice)
    const chat = here.chat({ onInputRequired: ({ sensitive }) => (sensitive ? `hunter${texts.length}` : undefined) })
    assert.equal(await chat.ask('go'), 'Thank you')
    assert.deepEqual(texts, ['go', 'hunter1', 'hunter2'])
    const [taskId = ''] = chat.tasks.keys()
    assert.doesNotMatch(JSON.stringify(await here.get(taskId)), /hunter\d/)
  })

  it('for credentials lists them, and the answer is marked so that no log keeps it [B-156 B-161]', async () => {
    const schemes = { github: { httpAuthSecurityScheme: { scheme: 'bearer' } } }
    for (const version of ['1.0', '0.3', '0.2'] as const) {
      const messages: Message[] = []
      const agent: Agent = ({ message }: Turn) => {
        messages.push(message)
        return messages.length === 1 ? authRequired('Your token, please', { schemes, inBand: true }) : 'Welcome'
      }
      const questions: InputRequest[] = []
      const here = await talkTo(agent, { version })
      const chat = here.chat({
        onInputRequired(question) {
          questions.push(question)
          return 'hunter2'
        },
      })
      const answer = await chat.send('go')
      const [{ text, isAuthRequired, sensitive, schemes: wanted } = {}] = questions
      assert.deepEqual([text, isAuthRequired, sensitive, wanted], ['Your token, please', true, true, schemes])
      assert.deepEqual(messages[1]?.parts, [
        {
          data: { scheme: 'github', credentials: 'hunter2' },
          metadata: { [credentialsExtension]: { type: 'credentials' } },
        },
      ])
      assert.ok(answer.kind === 'task')
      assert.doesNotMatch(JSON.stringify(await here.get(answer.id)), /hunter2/)
    }
  })

  it('is also answered as text if it is not a secret, and with data if there is any', async () => {
    const { agent, messages } = asking({ requestId: 'in-2' })
    const chat = (await talkTo(agent)).chat({ onInputRequired: () => [{ text: 'There:' }, { data: { value: 7 } }] })
    assert.deepEqual(JSON.parse(await chat.ask('go')), [{ toolUseId: 'in-2', result: { value: 7 } }])
    assert.equal(messages[1]?.parts.length, 3)
  })

  it('may name a tool that answers instead of the user', async () => {
    const { agent } = asking({ requestId: 'in-3', name: 'vault' })
    const chat = (await talkTo(agent)).chat({ tools: { vault: () => 'from the vault' } })
    assert.deepEqual(JSON.parse(await chat.ask('go')), [{ toolUseId: 'in-3', result: 'from the vault' }])
  })

  it('is read in the formats of other peers: kinds of parts and their own members [S2-13 S2-14]', async () => {
    const status = (state: string, message?: object) => ({
      kind: 'status-update',
      taskId: 't1',
      contextId: 'c1',
      status: {
        state,
        ...(message ? { message: { kind: 'message', messageId: 'q', role: 'agent', ...message } } : {}),
      },
      final: false,
    })
    const inputRequest = { kind: 'input-request', prompt: 'Enter API key:', sensitive: true, requestId: 'input-1' }
    const peer = await openOddPeer((_, count) => {
      if (count === 1) return [status('input-required', { parts: [], inputRequest })]
      const part = { kind: 'tool-use', toolUseId: 'u1', name: 'position', input: {} }
      if (count === 2) return [status('input-required', { messageId: 'q2', parts: [part] })]
      return [status('working'), { ...status('completed'), final: true }, 'end']
    })
    const questions: InputRequest[] = []
    const chat = (await connect(peer.url)).chat({
      tools: { position: () => 'Lisbon' },
      onInputRequired(question) {
        questions.push(question)
        return 'secret-key-123'
      },
    })
    for await (const _ of chat.stream('go'));
    assert.deepEqual([questions[0]?.text, questions[0]?.sensitive], ['Enter API key:', true])
    const sent = peer.calls
      .filter(({ method }) => method === 'message/stream')
      .slice(1)
      .map(({ params }) => (params['message'] as { parts: { data: object }[] }).parts[0]?.data)
    assert.deepEqual(sent, [
      { toolUseId: 'input-1', result: 'secret-key-123' },
      { toolUseId: 'u1', result: 'Lisbon' },
    ])
  })
})
