/** What `fromClaude` makes of tools, permissions, questions, structured output, files and sessions. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import {
  InMemorySessionStore,
  createSdkMcpServer,
  query,
  tool,
  type HookCallback,
  type Options,
} from '@anthropic-ai/claude-agent-sdk'
import { memoryStore, type Task } from '@parley/a2a'
import { currentTurn } from '@parley/a2a/adapters'
import { fromClaude, type FromClaudeOptions } from '@parley/a2a/adapters/claude'
import { testAgent, type TestAgent } from '@parley/a2a/testing'
import { z } from 'zod'
import { spansOf, statusMetadata } from '../task-log.ts'
import { offlineOptions, openFolder } from './claude-options.ts'
import { mockModel, openMessagesApi, type MessagesApi, type ModelScript } from './messages-api.ts'

interface Opened extends TestAgent {
  readonly store: ReturnType<typeof memoryStore>
  readonly model: MessagesApi
  readonly folder: string
  /** The amounts that the tool paid, with the id of the call and whether the tool knew its turn. */
  readonly paid: { readonly amount: number; readonly callId: unknown; readonly hasTurn: boolean }[]
}

async function open(
  t: TestContext,
  script: ModelScript,
  given: Options = {},
  options: FromClaudeOptions = {},
): Promise<Opened> {
  const store = memoryStore()
  const { path: folder, remove } = openFolder()
  const model = await openMessagesApi(script)
  const paid: Opened['paid'] = []
  const pay = tool('pay', 'Pays', { amount: z.number() }, async ({ amount }, extra) => {
    const { _meta: about = {} } = extra as { readonly _meta?: Record<string, unknown> }
    paid.push({ amount, callId: about['claudecode/toolUseId'], hasTurn: currentTurn() !== undefined })
    return { content: [{ type: 'text', text: `paid ${amount}` }] }
  })
  const bank = createSdkMcpServer({ name: 'bank', tools: [pay] })
  const agent = fromClaude(
    { query, options: { ...offlineOptions(model.url, folder), mcpServers: { bank }, ...given } },
    options,
  )
  const opened = testAgent(agent, { store })
  t.after(async () => {
    await opened.close()
    await model.close()
    remove()
  })
  return { ...opened, store, model, folder, paid }
}

async function send(agent: TestAgent, ...[message, about]: Parameters<TestAgent['send']>): Promise<Task> {
  const answer = await agent.send(message, about)
  assert.ok('status' in answer)
  return answer
}

const textOf = ({ artifacts = [] }: Task): string =>
  artifacts.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')
const idsOf = ({ id, contextId = '' }: Task) => ({ taskId: id, contextId })
const payCall = (amount: number, id = `toolu_${amount}`) => ({ name: 'mcp__bank__pay', input: { amount }, id })
const allowPay: Options = { allowedTools: ['mcp__bank__pay'] }

describe('fromClaude', () => {
  it('reports tool calls, and model calls with tokens and the cost of the turn', async (t) => {
    const script: ModelScript = ({ text, toolResult }) =>
      toolResult === undefined && text === 'go' ? { says: ['I pay.'], calls: [payCall(5)] } : { says: ['Done.'] }
    const agent = await open(t, script, allowPay)
    const task = await send(agent, 'go')
    assert.equal(textOf(task), 'I pay.\n\nDone.')
    assert.deepEqual(agent.paid, [{ amount: 5, callId: 'toolu_5', hasTurn: true }])
    const reported = (await statusMetadata(agent.store, task.id)).flatMap(({ toolCall }) => toolCall ?? [])
    assert.deepEqual(reported, [
      { id: 'toolu_5', name: 'mcp__bank__pay', outcome: 'started', arguments: { amount: 5 } },
      { id: 'toolu_5', name: 'mcp__bank__pay', outcome: 'succeeded', result: 'paid 5' },
    ])
    const spans = await spansOf(agent.store, task.id)
    const [call] = spans.filter(({ kind }) => kind === 'tool')
    assert.deepEqual([call?.name, call?.outcome], ['execute_tool mcp__bank__pay', 'ok'])
    const [first, last] = spans.filter(({ kind }) => kind === 'model').map(({ attributes = {} }) => attributes)
    assert.equal(first?.['gen_ai.usage.input_tokens'], 16, 'with what the service had cached')
    assert.equal(first['gen_ai.usage.cache_read.input_tokens'], 4)
    assert.equal(first['gen_ai.usage.output_tokens'], 5)
    assert.deepEqual(first['gen_ai.response.finish_reasons'], ['tool_use'])
    assert.equal(first['gen_ai.usage.cost'], undefined)
    assert.equal(last?.['gen_ai.response.model'], mockModel)
    const cost = Number(last?.['gen_ai.usage.cost'])
    assert.ok(cost > 0)
    // The next task continues the session, whose total includes this one.
    const next = await send(agent, 'again', { contextId: task.contextId ?? '' })
    const again = (await spansOf(agent.store, next.id)).filter(({ kind }) => kind === 'model')
    const sum = again.reduce((total, { attributes = {} }) => total + Number(attributes['gen_ai.usage.cost'] ?? 0), 0)
    assert.ok(sum > 0 && sum <= cost * 1.01, `${sum} is not the cost of one turn, ${cost}`)
  })

  it('asks for the permissions that Claude Code wants, one call at a time', async (t) => {
    const script: ModelScript = ({ toolResult }) => {
      if (toolResult === undefined) return { calls: [payCall(1), payCall(2)] }
      const left = [1, 2].find((amount) => !agent.paid.some((one) => one.amount === amount))
      return left === undefined ? { says: ['all paid'] } : { calls: [payCall(left, `toolu_${crypto.randomUUID()}`)] }
    }
    const agent = await open(t, script)
    let task = await send(agent, 'go')
    for (const before of [0, 1]) {
      assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED')
      assert.match(JSON.stringify(task.status.message), /mcp__bank__pay \{\\"amount\\":[12]\}/)
      assert.equal(agent.paid.length, before)
      task = await send(agent, 'approve', idsOf(task))
    }
    assert.equal(textOf(task), 'all paid')
    const sum = agent.paid.reduce((total, { amount }) => total + amount, 0)
    assert.deepEqual([agent.paid.length, sum], [2, 3])
  })

  it('decides a call that a hook of the user defers, and passes the reason of a rejection to the model', async (t) => {
    const script: ModelScript = ({ toolResult }) =>
      toolResult === undefined ? { calls: [payCall(3)] } : { says: [toolResult] }
    const hook: HookCallback = async () => ({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' },
    })
    const agent = await open(t, script, { ...allowPay, hooks: { PreToolUse: [{ hooks: [hook] }] } })
    const first = await send(agent, 'go')
    assert.equal(textOf(await send(agent, 'yes', idsOf(first))), 'paid 3')
    const second = await send(agent, 'go')
    const rejection = { parts: [{ data: { optionId: 'reject', reason: 'too much' } }] }
    assert.match(textOf(await send(agent, rejection, idsOf(second))), /too much/)
    assert.equal(agent.paid.length, 1)
  })

  it('asks the question of the model, and returns the answer to it', async (t) => {
    const questions = [
      {
        question: 'Which color?',
        header: 'Color',
        multiSelect: false,
        options: [
          { label: 'red', description: 'like a rose' },
          { label: 'blue', description: 'like the sea' },
        ],
      },
    ]
    const script: ModelScript = ({ toolResult }) =>
      toolResult === undefined ? { calls: [{ name: 'AskUserQuestion', input: { questions } }] } : { says: [toolResult] }
    const agent = await open(t, script, { tools: ['AskUserQuestion'] })
    const asked = await send(agent, 'go')
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.match(JSON.stringify(asked.status.message), /Which color\?.*like the sea/)
    assert.match(textOf(await send(agent, 'blue', idsOf(asked))), /Which color\?.*blue/)
  })

  it('reports structured output as data, and not as text', async (t) => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const script: ModelScript = ({ tools, toolResult }) =>
      toolResult === undefined && tools.includes('StructuredOutput')
        ? { says: ['Here it is.'], calls: [{ name: 'StructuredOutput', input: { city: 'Rome' } }] }
        : { says: ['Done.'] }
    const agent = await open(t, script, { outputFormat: { type: 'json_schema', schema } })
    const task = await send(agent, 'go')
    assert.deepEqual(
      task.artifacts?.flatMap(({ parts }) => parts),
      [{ data: { city: 'Rome' } }],
    )
    assert.deepEqual(await statusMetadata(agent.store, task.id), [])
    const model = (await spansOf(agent.store, task.id)).findLast(({ kind }) => kind === 'model')
    assert.ok(Number(model?.attributes?.['gen_ai.usage.cost']) > 0)
  })

  it('passes images on, reads no file that a message names, and reports reasoning if asked to', async (t) => {
    const agent = await open(t, () => ({ thinks: 'hmm', says: ['seen'] }), {}, { reasoning: true })
    const secret = join(agent.folder, 'secret.txt')
    writeFileSync(secret, 'the password is 1234')
    const raw = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const task = await send(agent, { parts: [{ text: `@${secret} /help` }, { raw, mediaType: 'image/png' }] })
    assert.equal(textOf(task), 'seen')
    const [request] = agent.model.requests
    assert.deepEqual(request?.mediaTypes, ['image/png'])
    assert.ok(request.text.startsWith(`@${secret} /help`))
    assert.ok(!request.everything.includes('1234'))
    assert.deepEqual(await statusMetadata(agent.store, task.id), [{ thought: 'hmm' }])
  })

  it('keeps sessions in the session store of the user, if there is one', async (t) => {
    const sessionStore = new InMemorySessionStore()
    const agent = await open(t, ({ userTexts }) => ({ says: [userTexts.join(', ')] }), { sessionStore })
    const { id, contextId = '' } = await send(agent, 'one')
    assert.equal(textOf(await send(agent, 'two', { contextId })), 'one, two')
    assert.equal(sessionStore.size, 2, 'every task forks the session')
    const records = await agent.store.tasks.read(id, 0)
    const keys = records.flatMap(({ body }) => (body.type === 'stored' ? [body.key] : []))
    assert.deepEqual(keys, ['claude/session'])
  })

  it('goes on with the messages as text after a session that is too large for the task', async (t) => {
    const agent = await open(t, () => ({ says: ['a long story'] }))
    const first = await send(agent, 'x'.repeat(2_000_000))
    assert.equal(textOf(first), 'a long story')
    const records = await agent.store.tasks.read(first.id, 0)
    const stored = new Map(records.flatMap(({ body }) => (body.type === 'stored' ? [[body.key, body.value]] : [])))
    const kept = [...stored].filter(([, value]) => value !== undefined)
    assert.deepEqual(kept, [['claude/session', null]], 'no part of the transcript')
    await send(agent, 'next', { contextId: first.contextId ?? '' })
    assert.match(agent.model.requests.at(-1)?.text ?? '', /assistant: a long story\n\nThe next message:\nnext$/)
  })

  it('refuses options that keep it from resuming', () => {
    const refused: Options[] = [{ persistSession: false }, { enableFileCheckpointing: true }]
    for (const options of refused) assert.throws(() => fromClaude({ query, options }), TypeError)
  })
})
