import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { createSessionReplay, missingText } from './session-replay.ts'
import { AcpAnswerText } from './acp-updates.ts'

const chunk = (who: 'user' | 'agent', text: string, messageId?: string): SessionUpdate => ({
  sessionUpdate: `${who}_message_chunk`,
  content: { type: 'text', text },
  ...(messageId !== undefined ? { messageId } : {}),
})
function replayed(...updates: readonly SessionUpdate[]) {
  const replay = createSessionReplay()
  for (const update of updates) replay.add(update)
  return replay
}

describe('the history that an agent replays', () => {
  it('ends with the last message and the answer to it', () => {
    const { lastUser, lastAnswer } = replayed(
      chunk('user', 'one'),
      chunk('agent', 'first'),
      chunk('user', 'tw'),
      chunk('user', 'o'),
      { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T' },
      chunk('agent', 'sec'),
      chunk('agent', 'ond'),
    )
    assert.deepEqual([lastUser, lastAnswer], ['two', 'second'])
  })

  it('may leave out the messages', () => {
    assert.equal(replayed(chunk('agent', 'x')).lastUser, undefined)
    assert.equal(replayed().lastUser, undefined)
  })

  it('is two messages where something was done between them', () => {
    const tool: SessionUpdate = { sessionUpdate: 'tool_call', toolCallId: 't', title: 'T' }
    assert.equal(replayed(chunk('user', 'one'), tool, chunk('user', 'two')).lastUser, 'two')
  })

  it('shows what the log has not, if it goes on where the log ends', () => {
    const { lastAnswer } = replayed(chunk('user', 'x'), chunk('agent', 'one '), chunk('agent', 'two'))
    assert.equal(missingText('one ', { lastAnswer }), 'two')
    assert.equal(missingText('', { lastAnswer }), 'one two')
    assert.equal(missingText('one two', { lastAnswer }), '')
    assert.equal(missingText('uno ', { lastAnswer }), '')
  })
})

describe('an answer', () => {
  it('is its chunks, with a break between messages of their own', () => {
    const answer = new AcpAnswerText()
    const added = [
      answer.add('a', undefined),
      answer.add('b', 'm1'),
      answer.add('c', 'm1'),
      answer.add('d', 'm2'),
      answer.add('e', null),
      answer.add('\n', 'm2'),
      answer.add('f', 'm3'),
    ]
    assert.deepEqual(added, ['a', 'b', 'c', '\n\nd', 'e', '\n', '\nf'])
    assert.equal(answer.text, added.join(''))
  })
})
