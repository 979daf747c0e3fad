import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pairResults, partsToText } from './compare-tasks.ts'

const artifact = (artifactId: string, text: string, name?: string) => ({
  artifactId,
  parts: [{ text }],
  ...(name === undefined ? {} : { name }),
})
const task = (artifacts: readonly any[], said?: string): any => ({
  id: 't',
  status: {
    state: 'TASK_STATE_COMPLETED',
    ...(said === undefined ? {} : { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: said }] } }),
  },
  artifacts,
})

describe('the results of two tasks', () => {
  it('are paired by name, the rest in order', () => {
    const left = task([artifact('1', 'a', 'report'), artifact('answer', 'b'), artifact('extra', 'c')])
    const right = task([artifact('response', 'B'), artifact('2', 'A', 'report')])
    assert.deepEqual(pairResults(left, right), [
      { name: 'report', left: 'a', right: 'A' },
      { name: 'answer / response', left: 'b', right: 'B' },
      { name: 'extra', left: 'c', right: undefined },
    ])
    assert.deepEqual(pairResults(task([]), right).length, 2)
  })

  it('have the status messages last', () => {
    assert.deepEqual(pairResults(task([], 'Done'), task([])), [{ name: 'status', left: 'Done', right: undefined }])
    assert.deepEqual(pairResults(task([]), task([])), [])
  })

  it('are text for every kind of part', () => {
    const parts = [
      { text: 'one ' },
      { text: 'two' },
      { data: { a: 1 } },
      { raw: 'AAAA', filename: 'a.png' },
      { url: 'https://example.com/b', mediaType: 'application/pdf' },
    ]
    assert.equal(partsToText(parts), 'one two\n{\n  "a": 1\n}\n[a.png, 3 B]\n[application/pdf] https://example.com/b\n')
  })
})
