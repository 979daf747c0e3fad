import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RequestPermissionRequest } from '@agentclientprotocol/sdk'
import type { AgentMessage, Message, Turn } from '@parley/a2a'
import { type PermissionQuestions, createPermissionPrompter } from './permission.ts'

const request = (title: string): RequestPermissionRequest => ({
  sessionId: 's',
  toolCall: { toolCallId: 't', title },
  options: [
    { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ],
})

/** A turn whose caller gives these answers in order; after a restart the log returns the earlier answers in the same order. */
function asked(answers: readonly string[], before?: PermissionQuestions, policy: 'ask' | 'allow' | 'reject' = 'ask') {
  const questions: string[] = []
  const kept: PermissionQuestions[] = []
  const left = [...answers]
  const askMessage = async (question: string | AgentMessage): Promise<Message> => {
    const [part] = (question as AgentMessage).parts
    questions.push(part !== undefined && 'text' in part ? part.text : '')
    const text = left.shift()
    assert.ok(text !== undefined, 'the caller was asked once too often')
    return { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] }
  }
  const asking = createPermissionPrompter({
    turn: { askMessage } as Turn,
    policy,
    ...(before !== undefined ? { before } : {}),
    save: async (now) => void kept.push(now),
  })
  const decide = async (title: string): Promise<string> => {
    const { outcome } = await asking.decide(request(title))
    return outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome
  }
  return { asking, decide, questions, kept }
}
const last = (title: string): Required<PermissionQuestions>['last'] => ({ title, options: request(title).options })

describe('asking for permission', () => {
  it('is noted before the caller is asked, each time', async () => {
    const { decide, kept } = asked(['hm', 'yes', 'no'])
    assert.deepEqual([await decide('Read'), await decide('Delete')], ['yes', 'no'])
    assert.deepEqual(
      kept.map(({ count, last: question }) => [count, question?.title]),
      [
        [1, 'Read'],
        [2, 'Read'],
        [3, 'Delete'],
      ],
    )
  })

  it('after a restart gives an answer of before to the question it was given to, and to no other', async () => {
    const { asking, decide, questions } = asked(['yes', 'yes', 'no'], { count: 2, last: last('Write') })
    await asking.replayAnswers()
    assert.equal(questions.length, 2)
    // Permission to write does not include permission to delete.
    assert.equal(await decide('Delete'), 'no')
    assert.match(questions[2] ?? '', /Delete/)
  })

  it('after a restart does not ask again for what was just allowed, once', async () => {
    const { asking, decide, questions } = asked(['yes', 'no'], { count: 1, last: last('Write') })
    await asking.replayAnswers()
    assert.equal(await decide('Write'), 'yes')
    assert.equal(questions.length, 1)
    assert.equal(await decide('Write'), 'no')
  })

  it('after a restart asks on where the answer of before was none', async () => {
    const { asking, decide } = asked(['hm', 'yes'], { count: 1, last: last('Write') })
    await asking.replayAnswers()
    assert.equal(await decide('Write'), 'yes')
    assert.equal(asking.questions.count, 2)
  })

  it('does not ask if the entry decides, and refuses if it cannot', async () => {
    assert.equal(await asked([], undefined, 'allow').decide('Delete'), 'yes')
    assert.equal(await asked([], undefined, 'reject').decide('Delete'), 'no')
    const { asking } = asked([], undefined, 'reject')
    const { outcome } = await asking.decide({ ...request('Delete'), options: request('Delete').options.slice(0, 1) })
    assert.equal(outcome.outcome, 'cancelled')
  })
})
