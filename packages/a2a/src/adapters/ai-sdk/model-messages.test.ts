import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Turn } from '../../agents/agent.ts'
import type { Json } from '../../model/task.ts'
import { rememberMessages, startMessages } from './model-messages.ts'

function turnOf(messageId: string, text: string, stored: Map<string, Json>): Turn {
  return {
    signal: new AbortController().signal,
    message: { messageId, role: 'ROLE_USER', parts: [{ text }] },
    store: {
      get: async (key: string) => stored.get(key),
      set: async (key: string, value: Json) => void stored.set(key, value),
      earlier: async () => undefined,
    },
    context: async () => [],
    history: async () => [],
    artifacts: async () => [],
  } as unknown as Turn
}

it('a turn that runs again after it stored its memory starts with the same messages', async () => {
  const stored = new Map<string, Json>()
  const answer = { role: 'assistant', content: 'hi' } as const
  const run = async (turn: Turn) => {
    const start = await startMessages(turn, {})
    await rememberMessages(turn, { ...start, messages: [...start.messages, answer] })
    return start.messages
  }
  const first = await run(turnOf('1', 'hello', stored))
  assert.deepEqual(await run(turnOf('1', 'hello', stored)), first)
  const second = await run(turnOf('2', 'again', stored))
  const asked = { role: 'user', content: [{ type: 'text', text: 'again' }] }
  assert.deepEqual(second, [...first, answer, asked])
  assert.deepEqual(await run(turnOf('2', 'again', stored)), second)
})

it('memory of older tasks is a list of messages', async () => {
  const stored = new Map<string, Json>([['ai-sdk/messages', [{ role: 'user', content: 'old' }]]])
  const { messages, before } = await startMessages(turnOf('1', 'new', stored), {})
  assert.deepEqual([messages[0], before], [{ role: 'user', content: 'old' }, 1])
})
