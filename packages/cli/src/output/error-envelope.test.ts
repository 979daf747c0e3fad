import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError, type ErrorCode } from '@parley/a2a/client'
import { errorTable } from '../../../a2a/src/model/error-table.ts'
import { CliError, exitCodeOf } from './cli-error.ts'
import { errorEnvelope, errorText, reportError } from './error-envelope.ts'

const report = (reason: unknown, hasCredential = false) => reportError(reason, { hasCredential })

describe('the report of an error', () => {
  it('has four fields in its envelope, and labels in text', () => {
    const error = report(new CliError('A2ACLI_ERR_USAGE', 'Wrong.', { hint: 'Do it right.' }))
    assert.deepEqual(errorEnvelope(error), {
      error: { code: 'A2ACLI_ERR_USAGE', message: 'Wrong.', hint: 'Do it right.', a2aCode: null },
    })
    assert.equal(errorText(error), 'Error: Wrong.\nCode: A2ACLI_ERR_USAGE\nHint: Do it right.')
  })

  it('has the name of the specification and the code of the wire for an error of the protocol', () => {
    const received = new A2AError('TASK_NOT_FOUND', 'Task not found', { taskId: 't-1' })
    const sent = Object.assign(received, { wireCode: -32_001 })
    const { hint: _, ...error } = report(sent)
    const message = 'Task not found (task t-1)'
    assert.deepEqual(error, { code: 'TaskNotFoundError', message, a2aCode: -32_001, exitCode: 1 })
    assert.equal(report(new A2AError('INTERNAL', 'x', {}, { cause: sent })).a2aCode, -32_001)
  })

  it('tells a missing credential from a rejected one', () => {
    const error = new A2AError('UNAUTHENTICATED', 'No')
    assert.deepEqual([report(error).code, report(error).exitCode], ['A2ACLI_ERR_CREDENTIALS_MISSING', 4])
    assert.deepEqual([report(error, true).code, report(error, true).exitCode], ['A2ACLI_ERR_AUTH_FAILED', 4])
  })

  it('invents no code of the specification, and its exit code fits its code', () => {
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      const { code: shown, exitCode } = report(new A2AError(code, 'x'))
      if (shown.startsWith('A2ACLI_ERR_')) assert.equal(exitCode, exitCodeOf[shown as keyof typeof exitCodeOf], code)
      else {
        assert.match(shown, /^(JSONParse|[A-Z][a-zA-Z]+)Error$|^PARLEY_ERR_/, code)
        assert.equal(exitCode, 1, code)
      }
    }
  })

  it('is internal for anything else', () => {
    assert.deepEqual([report(new TypeError('x')).code, report('x').message], ['A2ACLI_ERR_INTERNAL', 'x'])
  })
})
