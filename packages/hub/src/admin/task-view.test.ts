import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TaskRow } from '@parley/a2a/stores'
import type { TaskFacts } from './task-facts.ts'
import { redactCause, taskSummaryOf } from './task-view.ts'

const row: TaskRow = {
  id: 't',
  contextId: 'c',
  tenant: '',
  agent: 'echo',
  owner: 'ann',
  status: { state: 'TASK_STATE_FAILED' },
  statusAt: 1,
  createdAt: 0,
  updatedAt: 1,
  head: 1,
  consumedSeq: 1,
} as TaskRow

const summaryOf = (facts: TaskFacts) => taskSummaryOf(row, facts)

describe('the summary of a task', () => {
  it('has the result in one line, without Markdown', () => {
    const result = '# Title\n\n- [x] **one**\n1. two\n> three\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n```js\n*x* `y`\n```'
    assert.equal(summaryOf({ result }).result, 'Title one two three a | b 1 | 2 x y')
  })

  it('has the question of a waiting task without Markdown', () => {
    const text = '**Which city?**\n\n- `Rome`\n- Oslo'
    const status = {
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { messageId: 'q', role: 'ROLE_AGENT', parts: [{ text }] },
    }
    assert.equal(taskSummaryOf({ ...row, status } as TaskRow).statusText, 'Which city? Rome Oslo')
  })

  it('is made at once, whatever an agent returned or threw', () => {
    const before = process.threadCpuUsage()
    summaryOf({ result: `a${'\n'.repeat(200)}${'-'.repeat(195)}x` })
    summaryOf({ cause: `Error: x${'\n'.repeat(200_000)}y` })
    assert.ok(process.threadCpuUsage(before).user < 1_000_000)
  })

  it('has the message of an error at its start or end, without the stack', () => {
    const python =
      'loading\nTraceback (most recent call last):\n  File "a.py", line 1, in <module>\n    run()\nKeyError: 7'
    assert.equal(summaryOf({ cause: python }).cause, 'KeyError: 7')
    assert.equal(summaryOf({ cause: 'Error: refused\n    at x (y.ts:1:1)' }).cause, 'refused')
    assert.equal(summaryOf({ cause: 'shout: cannot open\n  the file' }).cause, 'shout: cannot open the file')
  })

  it('has the error without credentials', () => {
    const key = `sk-${'k'.repeat(40)}`
    const cause = `Error: refused\n    at x (y.ts:1:1)\nCaused by: Error: http://ann:hunter22@host/ Bearer abcdef123456 ${key}`
    const shown = summaryOf({ cause }).cause ?? ''
    for (const text of [shown, redactCause(cause, 20_000)]) {
      assert.match(text, /refused/)
      assert.doesNotMatch(text, /hunter22|abcdef123456|kkkkk/)
    }
    assert.equal(redactCause(`${'a '.repeat(10)}${key}`, 40).includes('kkk'), false)
  })
})
