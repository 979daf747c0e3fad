import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { authRequired, inputRequired, type AgentMessage, type Part, type Task, type TaskState } from '@parley/a2a'
import { answerParts, elicitationOf, readAgentQuestion } from './agent-question.ts'

function asking(report: ReturnType<typeof inputRequired>): Task {
  const { state, message = { parts: [] } } = report as { state: TaskState; message?: string | AgentMessage }
  const said = typeof message === 'string' ? { parts: [{ text: message }] } : message
  return { id: 't', contextId: 'c', status: { state, message: { messageId: 'm', role: 'ROLE_AGENT', ...said } } }
}
const withParts = (...parts: Part[]): Task => asking(inputRequired({ parts }))
const form = { elicitation: { form: {} } }
const both = { elicitation: { form: {}, url: {} } }
const page = { url: 'https://id.example.com/x' }

function schemaOf(task: Task): unknown {
  const request = elicitationOf(task, 'Ann', form)
  return request !== undefined && 'requestedSchema' in (request.params ?? {})
    ? (request.params as { requestedSchema: { properties: object } }).requestedSchema.properties
    : undefined
}

describe('a question of an agent', () => {
  it('is one field where the agent says no more, or says it in a way that no client shows', () => {
    const plain = { answer: { type: 'string', title: 'Answer' } }
    assert.deepEqual(schemaOf(asking(inputRequired('Which city?'))), plain)
    const nested = { type: 'object', properties: { a: { type: 'object', properties: {} } } }
    for (const requestedSchema of [nested, { type: 'array' }, { properties: 7 }]) {
      assert.deepEqual(schemaOf(withParts({ text: 'x' }, { data: { requestedSchema } })), plain)
    }
    const flat = { type: 'object', properties: { size: { type: 'string', enum: ['s', 'l'] } } }
    assert.deepEqual(schemaOf(withParts({ data: { requestedSchema: flat } })), flat.properties)
  })

  it('is put to those who can be asked, and says who asks', () => {
    const task = asking(inputRequired('Which city?'))
    assert.equal(elicitationOf(task, 'Ann', undefined), undefined)
    assert.equal(elicitationOf(task, 'Ann', {}), undefined)
    assert.equal(elicitationOf(task, 'Ann', { elicitation: { url: {} } }), undefined)
    // Clients of earlier revisions declare no modes.
    const request = elicitationOf(task, 'Ann', { elicitation: {} })
    assert.equal((request?.params as { message: string } | undefined)?.message, 'Ann asks: Which city?')
  })

  it('whose answer is a secret is not sent to the client', () => {
    const secrets = [
      asking(inputRequired('Your PIN?', { sensitive: true })),
      asking(authRequired('Your token?', { inBand: true })),
    ]
    for (const task of secrets) {
      assert.equal(readAgentQuestion(task).isSecret, true)
      assert.equal(elicitationOf(task, 'Ann', both), undefined)
    }
  })

  it('sends users to https pages only', () => {
    const url = (task: Task, capabilities: object = both): unknown =>
      (elicitationOf(task, 'Ann', capabilities)?.params as { url?: string } | undefined)?.url
    const signIn = (part: Part): Task => asking(authRequired({ parts: [{ text: 'Sign in' }, part] }))
    assert.equal(url(signIn(page)), page.url)
    assert.equal(url(withParts({ text: 'Look' }, page)), page.url)
    for (const odd of ['http://id.example.com', 'javascript:alert(1)', 'https://', 'file:///etc/passwd']) {
      assert.equal(elicitationOf(signIn({ url: odd }), 'Ann', both), undefined, odd)
    }
    assert.equal(elicitationOf(signIn(page), 'Ann', form), undefined)
  })

  it('says something where the agent says nothing', () => {
    assert.equal(readAgentQuestion(withParts()).text, 'The agent asks for more.')
  })
})

describe('an answer', () => {
  it('is words, and data where a form was filled in', () => {
    assert.deepEqual(answerParts({ answer: 'Rome' }), [{ text: 'Rome' }])
    const content = { name: 'Ann', count: 2 }
    assert.deepEqual(answerParts(content), [
      { text: 'name: Ann\ncount: 2' },
      { data: content, mediaType: 'application/json' },
    ])
  })
})
