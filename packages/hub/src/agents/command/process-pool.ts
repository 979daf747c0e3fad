/**
 * Provides the process for a turn: a new one, or the one that its conversation keeps. The number of processes is limited.
 * An idle kept process is stopped if another conversation needs one.
 */
import { resultWithin } from '@parley/a2a/internal'
import type { Turn } from '@parley/a2a'
import { createKeyedMutex, createSemaphore } from '../programs/semaphore.ts'
import type { Program } from '../programs/program.ts'
import { type OutputLine, splitLines } from '../programs/lines.ts'

export interface ProcessLease {
  readonly program: Program
  /** All output lines of the process, across turns. */
  readonly lines: AsyncIterator<OutputLine>
  /**
   * Ends the lease. `isUsable`: the program has answered, and waits for the next message or is about to exit. Otherwise the
   * process is stopped, and has ended when this resolves.
   */
  release(isUsable: boolean): Promise<void>
}

export interface ProcessPool {
  acquire(turn: Turn, start: () => Program): Promise<ProcessLease>
  /** Stops all processes. */
  close(): Promise<void>
}

export interface ProcessPoolOptions {
  readonly processes: number
  readonly lineBytes: number
  readonly graceMs: number
}

/** Starts a process for each turn. */
export function createTurnProcessPool({ processes, lineBytes, graceMs }: ProcessPoolOptions): ProcessPool {
  const semaphore = createSemaphore(processes)
  const taken = new Set<Program>()
  return {
    async acquire({ signal }, start) {
      const release = await semaphore.acquire(signal)
      const program = start()
      taken.add(program)
      const end = async (): Promise<void> => {
        await program.stop()
        taken.delete(program)
        release()
      }
      return {
        program,
        lines: splitLines(program.output, lineBytes),
        async release(isUsable) {
          // The program has answered and may exit by itself within the grace period.
          if (isUsable) void resultWithin(program.exited, graceMs).then(end)
          else await end()
        },
      }
    },
    close: async () => void (await Promise.all([...taken].map((program) => program.stop()))),
  }
}

interface SessionProcess {
  readonly program: Program
  readonly lines: AsyncIterator<OutputLine>
  isBusy: boolean
  idle?: NodeJS.Timeout
}

export interface SessionProcessPoolOptions extends ProcessPoolOptions {
  readonly idleMs: number
  keyOf(turn: Turn): string
}

/** Keeps one process per conversation, whose turns run one at a time. */
export function createSessionProcessPool({
  processes,
  lineBytes,
  idleMs,
  keyOf,
}: SessionProcessPoolOptions): ProcessPool {
  const semaphore = createSemaphore(processes)
  const sessionProcesses = new Map<string, SessionProcess>()
  const sessionLocks = createKeyedMutex()
  let isClosed = false

  async function start(key: string, signal: AbortSignal, begin: () => Program): Promise<SessionProcess> {
    if (semaphore.isFull) evictIdle()
    const release = await semaphore.acquire(signal)
    const program = begin()
    const sessionProcess: SessionProcess = { program, lines: splitLines(program.output, lineBytes), isBusy: true }
    sessionProcesses.set(key, sessionProcess)
    void program.exited.then(() => {
      clearTimeout(sessionProcess.idle)
      if (sessionProcesses.get(key) === sessionProcess) sessionProcesses.delete(key)
      // Its child processes may still run.
      void program.stop().then(release)
    })
    return sessionProcess
  }

  /** Stops the process that has been idle longest. */
  function evictIdle(): void {
    for (const sessionProcess of sessionProcesses.values()) {
      if (!sessionProcess.isBusy) return void stopProcess(sessionProcess)
    }
  }

  function stopProcess(sessionProcess: SessionProcess): Promise<void> {
    clearTimeout(sessionProcess.idle)
    for (const [key, each] of sessionProcesses) if (each === sessionProcess) sessionProcesses.delete(key)
    return sessionProcess.program.stop()
  }

  function markIdle(key: string, sessionProcess: SessionProcess): void {
    sessionProcess.isBusy = false
    // Moved to the end: entries at the front have been idle longer.
    sessionProcesses.delete(key)
    sessionProcesses.set(key, sessionProcess)
    sessionProcess.idle = setTimeout(() => void stopProcess(sessionProcess), idleMs)
    if (semaphore.hasWaiters) evictIdle()
  }

  return {
    async acquire(turn, begin) {
      const key = keyOf(turn)
      const release = await sessionLocks.acquire(key, turn.signal)
      try {
        const waiting = sessionProcesses.get(key)
        const sessionProcess = waiting ?? (await start(key, turn.signal, begin))
        sessionProcess.isBusy = true
        clearTimeout(sessionProcess.idle)
        return {
          program: sessionProcess.program,
          lines: sessionProcess.lines,
          async release(isUsable) {
            if (isUsable && sessionProcesses.get(key) === sessionProcess && !isClosed) markIdle(key, sessionProcess)
            else await stopProcess(sessionProcess)
            release()
          },
        }
      } catch (reason) {
        release()
        throw reason
      }
    },
    async close() {
      isClosed = true
      await Promise.all([...sessionProcesses.values()].map(stopProcess))
    },
  }
}
