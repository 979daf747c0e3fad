import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError, invalidParams, type ErrorCode } from '../../model/error.ts'
import { errorTable } from '../../model/error-table.ts'
import { versionOf } from '../../versions/index.ts'
import { decodeProtobuf, encodeProtobuf } from './codec.ts'
import { errorFromGrpcStatus, statusNames, grpcStatusOf } from './status.ts'

const { proto } = versionOf('1.0')

describe('an error over gRPC', () => {
  it('has the status of 1.0.1, and an ErrorInfo with reason, domain and strings in its details [B-6]', () => {
    const numbers: [ErrorCode, number][] = [
      ['TASK_NOT_FOUND', 5],
      ['TASK_NOT_CANCELABLE', 9],
      ['PUSH_NOTIFICATION_NOT_SUPPORTED', 9],
      ['UNSUPPORTED_OPERATION', 9],
      ['CONTENT_TYPE_NOT_SUPPORTED', 3],
      ['INVALID_AGENT_RESPONSE', 13],
      ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', 9],
      ['EXTENSION_SUPPORT_REQUIRED', 9],
      ['VERSION_NOT_SUPPORTED', 9],
      ['INVALID_PARAMS', 3],
      ['UNAUTHENTICATED', 16],
      ['PERMISSION_DENIED', 7],
      ['RATE_LIMITED', 8],
      ['INTERNAL', 13],
      ['UNAVAILABLE', 14],
      ['METHOD_NOT_FOUND', 12],
    ]
    for (const [code, number] of numbers) {
      const status = grpcStatusOf(new A2AError(code, 'No', { taskId: 't' }))
      assert.equal(status.code, number, code)
      const decoded = decodeProtobuf('google.rpc.Status', status.details!) as {
        code: number
        message: string
        details: object[]
      }
      assert.deepEqual([decoded.code, decoded.message], [number, 'No'])
      assert.deepEqual(decoded.details[0], {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: code,
        domain: 'a2a-protocol.org',
        metadata: { taskId: 't' },
      })
    }
  })

  it('has the status by which clients of 0.3 recognize it, which read nothing else', () => {
    const legacy = versionOf('0.3').spelling.grpc
    assert.equal(grpcStatusOf(new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'No'), legacy).code, 12)
    assert.equal(grpcStatusOf(new A2AError('UNSUPPORTED_OPERATION', 'No'), legacy).code, 12)
    assert.equal(grpcStatusOf(new A2AError('TASK_NOT_CANCELABLE', 'No'), legacy).code, 9)
  })

  it('round-trips with any code', () => {
    const own = new Set(['INTERRUPTED', 'TASK_FAILED', 'INPUT_REQUIRED', 'TIMEOUT', 'CANCELED'])
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      if (own.has(code)) continue
      const {
        code: back,
        message,
        details,
      } = errorFromGrpcStatus(grpcStatusOf(new A2AError(code, 'Why', { a: 'b' })), proto)
      assert.deepEqual([back, message, details['a']], [code, 'Why', 'b'])
    }
  })

  it('names the invalid fields in a BadRequest, and the retry delay in a RetryInfo', () => {
    const violations = [{ field: 'message.parts', description: 'must not be empty' }]
    assert.deepEqual(errorFromGrpcStatus(grpcStatusOf(invalidParams(violations)), proto).details.violations, violations)
    const late = new A2AError('RATE_LIMITED', 'Slowly', { retryAfterSeconds: '7' })
    assert.equal(errorFromGrpcStatus(grpcStatusOf(late), proto).details['retryAfterMs'], '7000')
    assert.equal(
      errorFromGrpcStatus(grpcStatusOf(new A2AError('UNAVAILABLE', 'Later')), proto).details['retryAfterMs'],
      '1000',
    )
  })

  it('is read by its reason, whatever the status: servers of 1.0.0 had other ones', () => {
    const { details } = grpcStatusOf(new A2AError('VERSION_NOT_SUPPORTED', 'No'))
    assert.equal(errorFromGrpcStatus({ code: 12, message: 'No', details }, proto).code, 'VERSION_NOT_SUPPORTED')
  })

  it('is read without details, and with invalid details', () => {
    const meanings: [(typeof statusNames)[number], string, ErrorCode][] = [
      ['NOT_FOUND', 'x', 'TASK_NOT_FOUND'],
      ['UNIMPLEMENTED', 'x', 'METHOD_NOT_FOUND'],
      ['INVALID_ARGUMENT', 'x', 'INVALID_PARAMS'],
      ['UNAUTHENTICATED', 'x', 'UNAUTHENTICATED'],
      ['DEADLINE_EXCEEDED', 'x', 'TIMEOUT'],
      // As servers of 0.3 send it.
      ['FAILED_PRECONDITION', 'Task not cancelable: 7', 'TASK_NOT_CANCELABLE'],
      ['UNIMPLEMENTED', 'Push Notification is not supported', 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
      ['UNIMPLEMENTED', 'Unsupported operation: x', 'UNSUPPORTED_OPERATION'],
      // As the Python SDK 0.3 sends it.
      ['UNIMPLEMENTED', 'TaskNotCancelableError: Task cannot be canceled', 'TASK_NOT_CANCELABLE'],
      ['UNIMPLEMENTED', 'ContentTypeNotSupportedError: Incompatible', 'CONTENT_TYPE_NOT_SUPPORTED'],
      ['NOT_FOUND', 'MethodNotFoundError: x', 'METHOD_NOT_FOUND'],
      ['UNIMPLEMENTED', 'SomeOtherError: x', 'METHOD_NOT_FOUND'],
      ['FAILED_PRECONDITION', 'x', 'UNSUPPORTED_OPERATION'],
      ['RESOURCE_EXHAUSTED', 'x', 'RATE_LIMITED'],
      ['RESOURCE_EXHAUSTED', 'Received message larger than max (2 vs 1)', 'PAYLOAD_TOO_LARGE'],
      ['UNKNOWN', 'x', 'INTERNAL'],
    ]
    for (const [name, message, meant] of meanings) {
      for (const details of [undefined, new Uint8Array([255, 1]), encodeProtobuf('google.rpc.Status', {})]) {
        assert.equal(
          errorFromGrpcStatus({ code: statusNames.indexOf(name), message, details }, proto).code,
          meant,
          name,
        )
      }
    }
  })

  it('fits into trailers, however long its text is, and keeps its reason', () => {
    const violations = Array.from({ length: 20 }, (_, n) => ({
      field: `metadata.${'x'.repeat(900)}${n}`,
      description: 'no',
    }))
    const wordy = new A2AError('INVALID_PARAMS', `${'é'.repeat(5_000)}\ud83d`, { violations })
    const stringy = new A2AError('INVALID_PARAMS', 'No', { hint: 'x'.repeat(100_000) })
    for (const error of [wordy, stringy]) {
      const status = grpcStatusOf(error)
      assert.ok(status.details!.length <= 4_000)
      assert.doesNotThrow(() => encodeURI(status.message))
      assert.equal(errorFromGrpcStatus(status, proto).code, 'INVALID_PARAMS')
    }
  })
})
