/**
 * Where a turn gets its program from: a new one, or the one that its conversation has kept. There are never more than so
 * many at once; one that is kept and idle makes room for a conversation that has none.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Turn } from '@parley/a2a'
import { createQueues } from '../programs/queues.ts'
import { createSlots } from '../programs/slots.ts'
import type { Program } from '../programs/program.ts'
import type { Line } from '../programs/lines.ts'
import { linesOf } from '../programs/lines.ts'

export interface Seat {
  readonly program: Program
  /** Of all that it says, over the turns. */
  readonly lines: AsyncIterator<Line>
  /**
   * The turn is over. `isUsable`: the program has answered, and waits for the next message or is about to end. Else it is
   * stopped, and gone when this resolves.
   */
  leave(isUsable: boolean): Promise<void>
}

export interface Seats {
  take(turn: Turn, start: () => Program): Promise<Seat>
  /** Stops all of them. */
  close(): Promise<void>
}

export interface SeatOptions {
  readonly processes: number
  readonly lineBytes: number
  readonly graceMs: number
}

/** A program for each turn. */
export function newSeats({ processes, lineBytes, graceMs }: SeatOptions): Seats {
  const slots = createSlots(processes)
  const taken = new Set<Program>()
  return {
    async take({ signal }, start) {
      const release = await slots.take(signal)
      const program = start()
      taken.add(program)
      const end = async (): Promise<void> => {
        await program.stop()
        taken.delete(program)
        release()
      }
      return {
        program,
        lines: linesOf(program.output, lineBytes),
        async leave(isUsable) {
          // It has said what it had to say, and is given the time to end as it likes.
          if (isUsable) void endsByItself(program, graceMs).then(end)
          else await end()
        },
      }
    },
    close: async () => void (await Promise.all([...taken].map((program) => program.stop()))),
  }
}

async function endsByItself(program: Program, graceMs: number): Promise<void> {
  const waiting = new AbortController()
  const late = sleep(graceMs, undefined, { signal: waiting.signal }).catch(() => {})
  await Promise.race([program.exited, late])
  waiting.abort()
}

interface Kept {
  readonly program: Program
  readonly lines: AsyncIterator<Line>
  isBusy: boolean
  idle?: NodeJS.Timeout
}

export interface KeptSeatOptions extends SeatOptions {
  readonly idleMs: number
  keyOf(turn: Turn): string
}

/** One for each conversation, whose turns wait for each other. */
export function keptSeats({ processes, lineBytes, idleMs, keyOf }: KeptSeatOptions): Seats {
  const slots = createSlots(processes)
  const kept = new Map<string, Kept>()
  const queues = createQueues()
  let isClosed = false

  async function start(key: string, signal: AbortSignal, begin: () => Program): Promise<Kept> {
    if (slots.isFull) makeRoom()
    const release = await slots.take(signal)
    const program = begin()
    const one: Kept = { program, lines: linesOf(program.output, lineBytes), isBusy: true }
    kept.set(key, one)
    void program.exited.then(() => {
      clearTimeout(one.idle)
      if (kept.get(key) === one) kept.delete(key)
      // What it started may be left.
      void program.stop().then(release)
    })
    return one
  }

  /** Of those that wait for their conversation, the one that has waited longest. */
  function makeRoom(): void {
    for (const one of kept.values()) {
      if (!one.isBusy) return void letGo(one)
    }
  }

  function letGo(one: Kept): Promise<void> {
    clearTimeout(one.idle)
    for (const [key, each] of kept) if (each === one) kept.delete(key)
    return one.program.stop()
  }

  function rest(key: string, one: Kept): void {
    one.isBusy = false
    // To the end: those in front have been idle longer.
    kept.delete(key)
    kept.set(key, one)
    one.idle = setTimeout(() => void letGo(one), idleMs)
    if (slots.isWanted) makeRoom()
  }

  return {
    async take(turn, begin) {
      const key = keyOf(turn)
      const release = await queues.take(key, turn.signal)
      try {
        const waiting = kept.get(key)
        const one = waiting ?? (await start(key, turn.signal, begin))
        one.isBusy = true
        clearTimeout(one.idle)
        return {
          program: one.program,
          lines: one.lines,
          async leave(isUsable) {
            if (isUsable && kept.get(key) === one && !isClosed) rest(key, one)
            else await letGo(one)
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
      await Promise.all([...kept.values()].map(letGo))
    },
  }
}
