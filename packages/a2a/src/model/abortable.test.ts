import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { abortable } from './signals.ts'

describe('abortable work', () => {
  it('ends with its result, and leaves no listener on the signal', async () => {
    const { signal } = new AbortController()
    assert.equal(await abortable(signal, Promise.resolve(1)), 1)
    await assert.rejects(abortable(signal, Promise.reject(new Error('broken'))), /broken/)
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('ends with the reason of the signal, and its late value is passed on', async () => {
    const [controller, work, late] = [
      new AbortController(),
      Promise.withResolvers<string>(),
      Promise.withResolvers<string>(),
    ]
    const waiting = abortable(controller.signal, work.promise, late.resolve)
    controller.abort(new Error('no longer wanted'))
    await assert.rejects(waiting, /no longer wanted/)
    work.resolve('late')
    assert.equal(await late.promise, 'late')
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  })

  it('is not waited for if the signal has aborted, and its failure is not unhandled', async () => {
    const signal = AbortSignal.abort(new Error('already over'))
    await assert.rejects(abortable(signal, Promise.reject(new Error('broken'))), /already over/)
  })
})
