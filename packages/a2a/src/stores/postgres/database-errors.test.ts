import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isOutcomeUnknown, isTransientError, delay } from './database-errors.ts'

const said = (code: string): Error => Object.assign(new Error('no'), { code })

describe('an error of the database', () => {
  it('is temporary if it concerns the connection or the load', () => {
    for (const code of [
      '40001',
      '40P01',
      '57014',
      '57P01',
      '57P03',
      '53300',
      '08006',
      '25006',
      '55P03',
      'ECONNRESET',
    ]) {
      assert.ok(isTransientError(said(code)), code)
    }
    assert.ok(isTransientError(new Error('Connection terminated unexpectedly')))
  })

  it('is permanent if it concerns the statement', () => {
    for (const code of ['22P02', '23505', '42P01', '42501', '54000']) assert.ok(!isTransientError(said(code)), code)
  })

  it('leaves the outcome of a statement unknown unless the server refused it', () => {
    for (const code of ['ECONNRESET', 'EPIPE', '57P01', '57P02', '08006']) assert.ok(isOutcomeUnknown(said(code)), code)
    assert.ok(isOutcomeUnknown(new Error('Query read timeout')))
    for (const code of ['40001', '40P01', '57014', '53300', '23505']) assert.ok(!isOutcomeUnknown(said(code)), code)
  })
})

describe('a retry', () => {
  it('is not waited for after an abort', async () => {
    const stop = new AbortController()
    const waiting = delay(60_000, stop.signal)
    stop.abort()
    await waiting
    await delay(60_000, stop.signal)
  })
})
