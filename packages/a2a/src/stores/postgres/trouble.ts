/** What an error of the database means: whether it passes, and whether the statement that met it may have been done all the same. */

/** The SQLSTATE, if the server said something; a lost connection has none, but may have a code such as EPIPE. */
function stateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' && /^(?:\d|F0|HV|P0|XX)[\dA-Z]+$/.test(error.code) ? error.code : undefined
}

/** By class, or whole. */
const passing = [
  '08', // the connection failed
  '40', // serialization failure, deadlock
  '53', // too many connections, out of memory, disk full
  '57', // shut down, starting up, canceled by a timeout
  '58', // an error of the operating system
  '25006', // read only: this server is no longer the primary
  '55P03', // a lock was not to be had in time
]

/** Whether the same may work later. Everything that is not a word of the server's is trouble on the way there. */
export function passes(error: unknown): boolean {
  const state = stateOf(error)
  return state === undefined || passing.some((code) => state.startsWith(code))
}

/**
 * Whether nobody knows if the statement was done. An error that the server tells of has undone it; a lost connection, a
 * time-out of the client's and the end of the server (which may come after the commit, while it waits for a standby) have not.
 */
export function isInDoubt(error: unknown): boolean {
  const state = stateOf(error)
  return state === undefined || state.startsWith('08') || state.startsWith('57P')
}

/** How long to wait before try number `attempt`, the first being 1: soon at first, and never all at once. */
export function backoffMs(attempt: number, maxMs: number, random: () => number = Math.random): number {
  return Math.round(Math.min(maxMs, 10 * 2 ** Math.min(attempt, 20)) * (0.5 + random() / 2))
}

/** Resolves after a time, or when the signal aborts. Keeps no process alive. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
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
