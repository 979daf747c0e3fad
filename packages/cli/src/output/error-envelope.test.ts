import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ErrorCode } from '@parley/a2a'
import { A2AError } from '@parley/a2a/client'
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

  it('indents further lines, so that text of an agent is no label', () => {
    const error = report(Object.assign(new A2AError('INTERNAL', 'No\nHint: a'), { wireCode: 'B\nHint: c' }))
    assert.equal(errorText(error), 'Error: No\n  Hint: a\nCode: InternalError\nA2A Code: B\n  Hint: c')
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

  it('tells a rejected credential from one that lacks a permission', () => {
    assert.match(report(new A2AError('UNAUTHENTICATED', 'No'), true).hint ?? '', /^The agent rejected the credential\./)
    assert.match(
      report(new A2AError('PERMISSION_DENIED', 'No'), true).hint ?? '',
      /^The credential does not permit this\./,
    )
  })

  /** With a credential: without one, UNAUTHENTICATED means a missing one. */
  const codes: Readonly<Record<ErrorCode, string>> = {
    PARSE_ERROR: 'JSONParseError',
    INVALID_REQUEST: 'InvalidRequestError',
    METHOD_NOT_FOUND: 'MethodNotFoundError',
    AGENT_NOT_FOUND: 'MethodNotFoundError',
    METHOD_NOT_ALLOWED: 'MethodNotFoundError',
    INVALID_PARAMS: 'InvalidParamsError',
    INTERNAL: 'InternalError',
    TASK_NOT_FOUND: 'TaskNotFoundError',
    TASK_NOT_CANCELABLE: 'TaskNotCancelableError',
    PUSH_NOTIFICATION_NOT_SUPPORTED: 'PushNotificationNotSupportedError',
    UNSUPPORTED_OPERATION: 'UnsupportedOperationError',
    CONTENT_TYPE_NOT_SUPPORTED: 'ContentTypeNotSupportedError',
    INVALID_AGENT_RESPONSE: 'InvalidAgentResponseError',
    EXTENDED_AGENT_CARD_NOT_CONFIGURED: 'ExtendedAgentCardNotConfiguredError',
    EXTENSION_SUPPORT_REQUIRED: 'ExtensionSupportRequiredError',
    VERSION_NOT_SUPPORTED: 'VersionNotSupportedError',
    UNAUTHENTICATED: 'A2ACLI_ERR_AUTH_FAILED',
    PERMISSION_DENIED: 'A2ACLI_ERR_AUTH_FAILED',
    RATE_LIMITED: 'PARLEY_ERR_RATE_LIMITED',
    AGENT_UNAVAILABLE: 'PARLEY_ERR_AGENT_UNAVAILABLE',
    INPUT_TIMEOUT: 'PARLEY_ERR_INPUT_TIMEOUT',
    TOOL_EXECUTION_FAILED: 'PARLEY_ERR_TOOL_EXECUTION_FAILED',
    CONTEXT_REJECTED: 'InvalidParamsError',
    MESSAGE_ID_REUSED: 'InvalidParamsError',
    PAYLOAD_TOO_LARGE: 'InvalidRequestError',
    UNSUPPORTED_MEDIA_TYPE: 'ContentTypeNotSupportedError',
    UNAVAILABLE: 'A2ACLI_ERR_UNREACHABLE',
    CARD_NOT_FOUND: 'A2ACLI_ERR_CARD_NOT_FOUND',
    INTERRUPTED: 'A2ACLI_ERR_UNREACHABLE',
    TASK_FAILED: 'PARLEY_ERR_TASK_FAILED',
    INPUT_REQUIRED: 'PARLEY_ERR_INPUT_REQUIRED',
    TIMEOUT: 'A2ACLI_ERR_TIMEOUT',
    CANCELED: 'PARLEY_ERR_CANCELED',
  }

  it('has a code of the specification, or one with our own prefix, and the exit code of that code', () => {
    for (const [code, expected] of Object.entries(codes) as [ErrorCode, string][]) {
      const { code: shown, exitCode } = report(new A2AError(code, 'x'), true)
      const reserved: Readonly<Record<string, number>> = exitCodeOf
      assert.deepEqual([shown, exitCode], [expected, reserved[expected] ?? 1], code)
    }
  })

  it('says when to retry, if the agent does, unless there is a command to resume', () => {
    const details = { status: '503', retryAfterMs: '19500' }
    const later = new A2AError('UNAVAILABLE', 'x', details)
    const wrapped = new A2AError('INTERRUPTED', 'x', {}, { cause: later })
    for (const error of [later, wrapped, new CliError('A2ACLI_ERR_UNREACHABLE', 'x', { cause: later })])
      assert.equal(report(error).hint, 'Retry in 20 s.')
    const resumable = new CliError('A2ACLI_ERR_UNREACHABLE', 'x', { hint: 'Resume: a2a', cause: later })
    assert.equal(report(resumable).hint, 'Resume: a2a')
    assert.equal(report(new A2AError('RATE_LIMITED', 'x')).hint, 'Try again later.')
    // A wrong number of an agent.
    assert.equal(report(new A2AError('RATE_LIMITED', 'x', { retryAfterMs: 'soon' })).hint, 'Try again later.')
  })

  it('is internal for anything else', () => {
    assert.deepEqual([report(new TypeError('x')).code, report('x').message], ['A2ACLI_ERR_INTERNAL', 'x'])
  })
})
