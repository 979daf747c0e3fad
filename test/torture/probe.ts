/**
 * Preloaded into the hubs of a torture run. Answers how large the heap is after collection, delays or refuses writes of SQLite as
 * a slow or full disk does, and ends the hub with its harness.
 */
import { flushCompileCache } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export type ProbeRequest =
  | { readonly type: 'heap' }
  | { readonly type: 'slow'; readonly commitMs: number }
  /** SQLite gets no page beyond those it has: what a full disk is where none can be mounted. */
  | { readonly type: 'full'; readonly isFull: boolean }

export interface HeapSample {
  readonly heapBytes: number
  readonly externalBytes: number
  readonly rssBytes: number
}

// Node writes the cache of compiled modules when it exits, which a killed hub never does: starting took three times as long.
setTimeout(flushCompileCache, 5_000).unref()

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const maxPages = 4_294_967_294
let commitMs = 0
let isFull = false

const still = new Int32Array(new SharedArrayBuffer(4))
const prepare = DatabaseSync.prototype.prepare
DatabaseSync.prototype.prepare = function prepared(this: DatabaseSync, ...args: Parameters<typeof prepare>) {
  const statement = prepare.apply(this, args)
  const [sql] = args
  const run = statement.run.bind(statement)
  if (sql === 'BEGIN IMMEDIATE') {
    statement.run = () => {
      this.exec(`PRAGMA max_page_count = ${isFull ? 1 : maxPages}`)
      return run()
    }
  }
  if (sql === 'COMMIT') {
    statement.run = () => {
      // In the thread that commits, as fsync would.
      if (commitMs > 0) Atomics.wait(still, 0, 0, commitMs)
      return run()
    }
  }
  return statement
}

process.on('message', (request: ProbeRequest) => {
  if (request.type === 'slow') commitMs = request.commitMs
  else if (request.type === 'full') isFull = request.isFull
  else sample()
})
process.once('disconnect', () => process.exit(1))
// The IPC channel alone must not keep a terminating hub alive.
process.channel?.unref()

function sample(): void {
  collect()
  // Memory that finalizers released after the first collection is freed by the second.
  setImmediate(() => {
    collect()
    const { heapUsed, external, rss } = process.memoryUsage()
    process.send?.({ heapBytes: heapUsed, externalBytes: external, rssBytes: rss } satisfies HeapSample)
  })
}
