/**
 * The durable values of a task, for its agent. Each write is a record of the task log: it is fenced by the lease of the task, another
 * process finds it after a crash, and it is removed with the task. Bounded, because every copy of the task in memory holds the values.
 */
import type { TurnStore } from '../../agents/agent.ts'
import { A2AError } from '../../model/error.ts'
import { recordBytes } from '../../model/json-nodes.ts'
import type { RecordBody } from '../../model/record.ts'
import { isTerminal } from '../../model/state.ts'
import type { Json } from '../../model/task.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import { checkJson } from './report-interpreter.ts'

const maxKeyLength = 256
const maxEntries = 1_000
/** Of all keys and values together, as JSON text. */
const maxCharacters = 2_000_000
/**
 * Of all writes of a task: the log keeps each of them until the task is removed. A LangGraph thread of 500 kB is written whole at each
 * step, so this is enough for 200 steps of it.
 */
const maxWrittenBytes = 100_000_000

/** A value exceeds the limits. Adapters recognize it by its name, and end the task with a reason for the caller. */
class TurnStoreFullError extends RangeError {
  override readonly name = 'TurnStoreFullError'
}

interface RunningTurn {
  readonly hasBegun: boolean
  begin(working: boolean): void
  /** Throws if the turn has ended. */
  checkNotOver(): void
}

interface TurnStoreDeps {
  readonly loaded: LoadedTask
  readonly jsonNodes: number
  /** What the newest completed task of the conversation stored under a key. */
  earlierStored(loaded: LoadedTask, key: string): Promise<Json | undefined>
}

export function createTurnStore({ loaded, jsonNodes, earlierStored }: TurnStoreDeps, turn: RunningTurn): TurnStore {
  /** By key. Counts writes that are still on their way to the log; only one turn of a task writes at a time. */
  let sizes: Map<string, number> | undefined
  /** Of writes that are still on their way to the log. */
  let unwritten = 0

  function countedSizes(): Map<string, number> {
    sizes ??= new Map([...(loaded.fold.stored ?? [])].map(([key, value]) => [key, sizeOf(key, value)]))
    return sizes
  }

  function reserve(key: string, value: Json): void {
    checkKey(key)
    if (key === '' || key.length > maxKeyLength)
      throw new RangeError(`A key of turn.store has 1 to ${maxKeyLength} characters`)
    const counted = countedSizes()
    const size = sizeOf(key, value)
    let total = size
    for (const [other, bytes] of counted) if (other !== key) total += bytes
    if (total > maxCharacters) throw new TurnStoreFullError(`turn.store holds at most ${maxCharacters} characters`)
    if (!counted.has(key) && counted.size >= maxEntries)
      throw new TurnStoreFullError(`turn.store holds at most ${maxEntries} entries`)
    counted.set(key, size)
  }

  async function write(body: RecordBody): Promise<void> {
    turn.checkNotOver()
    turn.begin(true)
    const bytes = recordBytes(body)
    unwritten += bytes
    try {
      await appendRecord(loaded, body)
    } finally {
      unwritten -= bytes
    }
  }

  function checkWritten(body: RecordBody): void {
    if (loaded.fold.storedBytes + unwritten + recordBytes(body) > maxWrittenBytes)
      throw new TurnStoreFullError(
        `turn.store writes at most ${maxWrittenBytes} bytes in a task: write less often, or less`,
      )
  }

  async function entries(): Promise<ReadonlyMap<string, Json>> {
    if (turn.hasBegun) await loaded.flushed()
    return loaded.fold.stored ?? new Map()
  }

  return {
    async get(key) {
      checkKey(key)
      return copyOf((await entries()).get(key))
    },
    async set(key, value) {
      const copy = checkJson(value, 'a value of turn.store', jsonNodes)
      const body: RecordBody = { type: 'stored', key, value: copy }
      checkWritten(body)
      reserve(key, copy)
      await write(body)
    },
    async delete(key) {
      checkKey(key)
      if (!countedSizes().delete(key)) return
      await write({ type: 'stored', key })
    },
    keys: async (prefix = '') => [...(await entries()).keys()].filter((key) => key.startsWith(prefix)).sort(),
    async earlier(key) {
      checkKey(key)
      return copyOf(await earlierStored(loaded, key))
    },
  }
}

/** Writes a record that only a task that has not ended takes. Resolves when durable. */
export async function appendRecord(loaded: LoadedTask, body: RecordBody): Promise<void> {
  const written = await loaded.write((draft) => (isTerminal(draft.state) ? undefined : { bodies: [body] }))
  if (written === undefined) throw new A2AError('INTERRUPTED', 'The task has ended')
}

function checkKey(key: unknown): asserts key is string {
  if (typeof key !== 'string')
    throw new TypeError(`A key of turn.store is a string, not ${key === null ? 'null' : typeof key}`)
}

/** The agent may change what it gets; only `set` changes the entry. */
function copyOf(value: Json | undefined): Json | undefined {
  return typeof value === 'object' ? structuredClone(value) : value
}

function sizeOf(key: string, value: Json): number {
  return key.length + JSON.stringify(value).length
}
