import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Problem, toProblem, unreachableProblem } from '../../api/problem.ts'
import { problemText } from './problem-text.ts'

describe('the text of a problem', () => {
  it('has the message as its title, and advice by its code', () => {
    const problem = new Problem('The task has already ended', { code: 'CONFLICT', status: 409, request: 'POST /x' })
    assert.deepEqual(problemText(problem), {
      title: 'The task has already ended',
      advice: 'Reload to see the current state, then try again.',
      details: 'POST /x\n409\nCONFLICT\nThe task has already ended',
    })
  })

  it('explains what the hub does not: no connection, and internal errors', () => {
    const { title, advice = '' } = problemText(unreachableProblem('GET /admin/agents', new TypeError('fetch failed')))
    assert.equal(title, 'The hub cannot be reached')
    assert.match(advice, /reconnects automatically/)
    const internal = new Problem('Internal error', { code: 'INTERNAL', status: 500, request: 'GET /x' })
    assert.equal(problemText(internal).advice, 'The log of the hub has the cause.')
  })

  it('leaves out what is unknown', () => {
    assert.deepEqual(problemText(toProblem(new Error('not today'))), {
      title: 'not today',
      details: 'INTERNAL\nnot today',
    })
  })
})
