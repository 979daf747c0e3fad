import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../model/error.ts'
import { withResponseDetails } from '../client/http/response-errors.ts'
import { decodeError } from './decode-error.ts'

describe('the code that a peer sent', () => {
  const info = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND' }]

  it('is the number of JSON-RPC, also one that has no meaning in A2A', () => {
    assert.equal(decodeError({ code: -32_001, message: 'No', data: info }, 200).wireCode, -32_001)
    const unknown = decodeError({ code: -32_050, message: 'No' }, 200)
    assert.deepEqual([unknown.code, unknown.wireCode], ['INTERNAL', -32_050])
  })

  it('is the reason of REST and gRPC, then the status', () => {
    const rest = { error: { code: 404, status: 'NOT_FOUND', message: 'No', details: info } }
    assert.equal(decodeError(rest, 404).wireCode, 'TASK_NOT_FOUND')
    assert.equal(decodeError({ error: { code: 404, status: 'NOT_FOUND' } }, 404).wireCode, 'NOT_FOUND')
    // An HTTP status is no code of A2A.
    assert.equal(decodeError({ message: 'No' }, 404).wireCode, undefined)
  })

  it('stays when the head of the response adds details, and is absent on errors that no peer sent', () => {
    const error = decodeError({ code: -32_001, message: 'No' }, 404)
    const answer = { status: 404, ok: false, headers: new Headers(), body: null }
    assert.equal((withResponseDetails(error, '', answer) as A2AError).wireCode, -32_001)
    assert.ok(!('wireCode' in new A2AError('INTERNAL', 'No')))
  })
})
