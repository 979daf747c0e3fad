import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ElicitRequestParams } from '@modelcontextprotocol/client'
import type { AgentMessage, Message, Part, Struct } from '@parley/a2a'
import { answerElicitation } from './elicit.ts'

function person(...answers: (string | Part | Struct)[]) {
  const asked: string[] = []
  const ask = async ({ parts }: AgentMessage): Promise<Message> => {
    asked.push(parts.map((part) => ('text' in part ? part.text : '')).join(''))
    const answer = answers.shift() ?? ''
    const part = (typeof answer === 'string' ? { text: answer } : answer) as Part
    return { messageId: 'm', role: 'ROLE_USER', parts: [part] }
  }
  return { ask, asked }
}

const form = (properties: Struct, required: readonly string[] = Object.keys(properties)): ElicitRequestParams =>
  ({ message: 'Tell me:', requestedSchema: { type: 'object', properties, required } }) as unknown as ElicitRequestParams

describe('a question of an MCP server', () => {
  const trip = form(
    {
      city: { type: 'string', title: 'City', description: 'Where to' },
      days: { type: 'integer' },
      sea: { type: 'boolean' },
      way: { type: 'string', enum: ['train', 'plane'] },
    },
    ['city', 'days'],
  )

  it('names what is wanted, and takes it as data, as JSON or line by line', async () => {
    const content = { city: 'Lisbon', days: 3, sea: true, way: 'train' }
    const lines = '- city: Lisbon\ndays = 3\nsea: yes\nway: train'
    for (const answer of [{ data: content }, JSON.stringify(content), lines]) {
      const { ask, asked } = person(answer)
      assert.deepEqual(await answerElicitation(trip, ask), { action: 'accept', content })
      assert.match(asked[0] ?? '', /Tell me:\n- city: City: Where to\n- days\n- sea \(optional\)\n.*\[train \| plane\]/)
    }
  })

  it('for one thing alone is answered in plain words', async () => {
    const { ask } = person(' Lisbon ')
    assert.deepEqual(await answerElicitation(form({ city: { type: 'string' } }), ask), {
      action: 'accept',
      content: { city: 'Lisbon' },
    })
    const listed = person('a, b')
    const many = form({ tags: { type: 'array', items: { type: 'string' } } })
    assert.deepEqual(await answerElicitation(many, listed.ask), { action: 'accept', content: { tags: ['a', 'b'] } })
  })

  it('is asked again with what is wrong, and not for ever', async () => {
    const learns = person('many', '3')
    const days = form({ days: { type: 'integer' } })
    assert.deepEqual(await answerElicitation(days, learns.ask), { action: 'accept', content: { days: 3 } })
    assert.match(learns.asked[1] ?? '', /is invalid/)
    const stubborn = person('many', 'lots', 'plenty', 'oodles')
    assert.deepEqual(await answerElicitation(days, stubborn.ask), { action: 'cancel' })
    assert.equal(stubborn.asked.length, 3)
  })

  it('may be declined or canceled', async () => {
    assert.deepEqual(await answerElicitation(trip, person('No.').ask), { action: 'decline' })
    assert.deepEqual(await answerElicitation(trip, person('never mind').ask), { action: 'cancel' })
    const silent = async (): Promise<Message> => ({
      messageId: 'm',
      role: 'ROLE_USER',
      parts: [{ text: '' }],
      metadata: { reason: 'INPUT_TIMEOUT' },
    })
    assert.deepEqual(await answerElicitation(trip, silent), { action: 'cancel' })
  })

  it('is answered, declined or canceled by programs as the server will get it', async () => {
    const city = form({ city: { type: 'string' } })
    const answer = (data: Struct, question = city) => answerElicitation(question, person({ data }).ask)
    const accepted = { action: 'accept', content: { city: 'Lisbon' } }
    assert.deepEqual(await answer(accepted), accepted)
    assert.deepEqual(await answer({ action: 'decline' }), { action: 'decline' })
    assert.deepEqual(await answer({ action: 'cancel' }), { action: 'cancel' })
    // A form may have a field of that name.
    const content = { action: 'cancel' }
    assert.deepEqual(await answer(content, form({ action: { type: 'string' } })), { action: 'accept', content })
  })

  it('for a yes or a no takes a no for an answer', async () => {
    const sure = form({ sure: { type: 'boolean' } })
    const content = { sure: false }
    assert.deepEqual(await answerElicitation(sure, person('no').ask), { action: 'accept', content })
    assert.deepEqual(await answerElicitation(sure, person('cancel').ask), { action: 'cancel' })
  })

  it('to visit a page shows the URL, and is accepted when the person confirms', async () => {
    const visit: ElicitRequestParams = {
      mode: 'url',
      message: 'Sign in',
      url: 'https://x.test/login',
      elicitationId: 'e1',
    }
    const { ask, asked } = person('yes')
    assert.deepEqual(await answerElicitation(visit, ask), { action: 'accept' })
    assert.match(asked[0] ?? '', /Sign in\nhttps:\/\/x\.test\/login/)
    assert.deepEqual(await answerElicitation(visit, person('no').ask), { action: 'decline' })
  })
})
