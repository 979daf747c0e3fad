import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Part } from '../model/task.ts'
import { approvalMessage, optionOfKind, parseOption, type ApprovalQuestion } from './approvals.ts'

const asked: ApprovalQuestion = {
  title: 'Delete everything',
  options: [
    { optionId: 'a', name: 'Allow once', kind: 'allow_once' },
    { optionId: 'b', name: 'Always allow', kind: 'allow_always' },
    { optionId: 'c', name: 'Reject', kind: 'reject_once' },
  ],
}
const meant = (...parts: readonly Part[]): string | undefined => parseOption({ parts }, asked)

describe('a question for permission', () => {
  it('lists its options for people, and gives them as data for programs', () => {
    const [text, data] = approvalMessage(asked).parts
    assert.match((text as { text: string }).text, /Delete everything\n\n1\. Allow once\n2\. Always allow\n3\. Reject\n/)
    const choices = asked.options.map(({ optionId, name }) => ({ const: optionId, title: name }))
    assert.deepEqual(data, {
      data: {
        permission: { title: asked.title, options: asked.options },
        requestedSchema: {
          type: 'object',
          properties: { optionId: { type: 'string', title: 'Decision', oneOf: choices } },
          required: ['optionId'],
        },
      },
    })
  })
})

describe('an answer', () => {
  it('means an option by its id, its name or its number', () => {
    const answers = ['a', ' ALLOW ONCE. ', '1', '2', 'reject', '3!']
    assert.deepEqual(
      answers.map((text) => meant({ text })),
      ['a', 'a', 'a', 'b', 'c', 'c'],
    )
  })

  it('means it as data, which wins over text', () => {
    assert.equal(meant({ text: '1' }, { data: { optionId: 'c' } }), 'c')
    assert.equal(meant({ data: { permission: { optionId: 'b' } } }), 'b')
  })

  it('means this time only by yes and by no', () => {
    assert.deepEqual(
      ['yes', 'OK', 'no', 'deny'].map((text) => meant({ text })),
      ['a', 'a', 'c', 'c'],
    )
  })

  it('is ignored where it is ambiguous', () => {
    for (const text of ['', '0', '4', '-1', '1.5', 'maybe', 'yes, but only once', '1 2', '__proto__']) {
      assert.equal(meant({ text }), undefined, text)
    }
    for (const data of [null, [], 7, { optionId: 'x' }, { optionId: 1 }, { permission: { permission: 'a' } }]) {
      assert.equal(meant({ data }), undefined, JSON.stringify(data))
    }
  })

  it('is found without asking, for this time rather than always', () => {
    assert.deepEqual([optionOfKind(asked.options, 'allow'), optionOfKind(asked.options, 'reject')], ['a', 'c'])
    assert.equal(optionOfKind(asked.options.slice(1, 2), 'allow'), 'b')
    assert.equal(optionOfKind(asked.options.slice(0, 2), 'reject'), undefined)
  })
})
