/** Classifies database errors: whether an error is transient, and whether its statement may have been executed anyway. */

/** The SQLSTATE, if the server sent one; a lost connection has none, but may have a code such as EPIPE. */
function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^(?:\d|F0|HV|P0|XX)[\dA-Z]+$/.test(error.code) ? error.code : undefined
}

/** Classes, or whole states. */
const transientStates = [
  '08', // the connection failed
  '40', // serialization failure, deadlock
  '53', // too many connections, out of memory, disk full
  '57', // shut down, starting up, canceled by a timeout
  '58', // an error of the operating system
  '25006', // read only: this server is no longer the primary
  '55P03', // a lock was not acquired in time
]

/** Whether the same statement may succeed later. An error without a SQLSTATE is a connection error. */
export function isTransientError(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === undefined || transientStates.some((code) => state.startsWith(code))
}

/**
 * Whether the outcome of the statement is unknown. An error reported by the server has rolled it back. A lost connection, a client
 * timeout and a server shutdown (which may come after the commit, while it waits for a standby) have not.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === undefined || state.startsWith('08') || state.startsWith('57P')
}

/** The first delay of a retry: a conflict is over soon. */
export const firstRetryMs = 20

/** Resolves after a time, or when the signal aborts. Does not keep the process alive. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
  })
}
