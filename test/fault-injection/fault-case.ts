/**
 * One fault: the case must end, and afterwards nothing may remain: no waiting connection, no
 * listener on the caller's signal, no timer, no handle, no unhandled rejection.
 *
 * A busy machine pauses at times. So a limit is either so long that reaching it is a failure, or one that
 * the case waits for, however late it is.
 */
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { it } from 'node:test'
import { A2AError } from '@parley/a2a'
import { clearCardCache, connect } from '@parley/a2a/client'
import type { ClientLimits, ConnectOptions, RemoteAgent } from '@parley/a2a/client'
import { eventually, guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { openFaultyServer } from './faulty-server.ts'
import type { ExchangeHandler, ExchangeHandlers, FaultyServerOptions, FaultyServer } from './faulty-server.ts'

export interface FaultCase {
  /** Closed after the case. */
  open(answers: ExchangeHandlers | ExchangeHandler, options?: FaultyServerOptions): Promise<FaultyServer>
  /** With small limits, and without output on the console. */
  connect(to: FaultyServer | string | object, options?: ConnectOptions): Promise<RemoteAgent>
  /** Pass it to every call: no listener may remain afterwards. */
  readonly signal: AbortSignal
  abort(reason: unknown): void
  /** What the client logged as a warning. */
  readonly warnings: readonly string[]
  /** Registers something else to close after the case. */
  after(close: () => Promise<unknown> | void): void
}

/** A case that has not ended by then hangs. */
/** Longer than any case: a call that ends by this limit has missed the expected one. */
export const neverMs = 10 * guardMs

export const limits: Partial<ClientLimits> = {
  timeoutMs: neverMs,
  answerTimeoutMs: neverMs,
  cardTimeoutMs: neverMs,
  idleTimeoutMs: neverMs,
  attempts: 3,
  firstDelayMs: 1,
  maxDelayMs: 10,
  pollMs: 5,
}

export function faultCase(name: string, body: (stage: FaultCase) => Promise<void>): void {
  it(name, { timeout: 2 * guardMs }, async () => {
    clearCardCache()
    const strays: unknown[] = []
    const stray = (reason: unknown): void => void strays.push(reason)
    process.on('unhandledRejection', stray)
    const before = handles()
    const controller = new AbortController()
    const { signal } = controller
    const servers: FaultyServer[] = []
    const closes: (() => Promise<unknown> | void)[] = []
    const warnings: string[] = []
    const stage: FaultCase = {
      signal,
      abort: (reason) => controller.abort(reason),
      warnings,
      after: (close) => void closes.push(close),
      async open(answers, options) {
        const server = await openFaultyServer(answers, options)
        servers.push(server)
        return server
      },
      connect: (to, options = {}) =>
        connect((typeof to === 'object' && 'calls' in to ? to.url : to) as string, {
          signal,
          log: { warn: (message) => void warnings.push(message) },
          ...options,
          limits: { ...limits, ...options.limits },
        }),
    }
    try {
      await body(stage)
      await eventually(() => servers.every(({ waiting }) => waiting === 0), 'all connections to get their answer')
      assert.equal(getEventListeners(signal, 'abort').length, 0, 'the signal still has listeners')
    } finally {
      for (const server of servers) await server.close()
      for (const close of closes) await close()
      process.off('unhandledRejection', stray)
    }
    await eventually(
      () => leftOpen(before).length === 0,
      () => `these to close: ${leftOpen(before).join(', ')}`,
    )
    assert.deepEqual(strays, [], 'an unhandled rejection')
  })
}

/** Handles that keep the process alive. Immediates are how the test waits, so they do not count. */
function handles(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate' && kind !== 'TickObject')
}

function leftOpen(before: readonly string[]): string[] {
  const left = handles()
  for (const kind of before) {
    const at = left.indexOf(kind)
    if (at >= 0) left.splice(at, 1)
  }
  return left
}

/** The typed error of a call, one of `codes`, or any if none are given. */
export async function failsWith(promise: PromiseLike<unknown>, ...codes: string[]): Promise<A2AError> {
  const reason = await Promise.resolve(promise).then(
    (value) => assert.fail(`it did not fail, but gave ${JSON.stringify(value)?.slice(0, 500)}`),
    (reason: unknown) => reason,
  )
  assert.ok(reason instanceof A2AError, `no A2AError: ${reason instanceof Error ? reason.stack : String(reason)}`)
  if (codes.length > 0) assert.ok(codes.includes(reason.code), `${reason.code}: ${reason.stack}`)
  return reason
}

/** The typed error, or the value: for faults that a client may survive or reject. */
export async function endsTyped<T>(promise: PromiseLike<T>): Promise<T | A2AError> {
  try {
    return await promise
  } catch (reason) {
    assert.ok(reason instanceof A2AError, `no A2AError: ${reason instanceof Error ? reason.stack : String(reason)}`)
    return reason
  }
}
