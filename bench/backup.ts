/**
 * Time and size of a backup and a restore: `npm run bench:backup -- [tasks]`. Fills each store with tasks as a hub writes them (a message,
 * eight chunks of output, an end; every hundredth with a file of 200 kB), then backs it up and restores it. Default 100,000 tasks.
 */
import { randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import type { FullStore } from '@parley/a2a/stores'
import type { StoreLoader, StoreReader } from '@parley/a2a/internal'
import {
  readDump,
  writeDump,
  postgresLoader,
  postgresReader,
  sqliteLoader,
  sqliteReader,
} from '@parley/a2a/stores/dump'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { chunk, createTask, newRecord, taskStatusOf } from '../packages/a2a/src/testing/store-contract/harness.ts'
import { createEmptyDatabase } from '../test/operations/empty-database.ts'

const tasks = Number(process.argv[2] ?? 100_000)
const atOnce = 256
const words =
  'the store keeps every record of a task in order and a client that comes back reads on from where it was '.split(' ')

interface Place {
  readonly name: string
  open(): FullStore
  reader(): Promise<StoreReader>
  loader(): Promise<StoreLoader>
}

const folder = mkdtempSync(join(tmpdir(), 'parley-bench-backup-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

function sqlitePlace(name: string): Place {
  const file = join(folder, `${name}.db`)
  const open = () => sqliteStore({ file, durability: 'normal' })
  return { name: 'SQLite', open, reader: () => sqliteReader(file), loader: () => sqliteLoader(file) }
}

async function postgresPlace(): Promise<Place> {
  const connectionString = await createEmptyDatabase()
  const connect = () => new pg.Client({ connectionString })
  return {
    name: 'PostgreSQL',
    open: () => postgresStore({ pool: new pg.Pool({ connectionString }), masterKey: randomBytes(32), endPool: true }),
    reader: () => postgresReader({ connect }),
    loader: () => postgresLoader({ connect }),
  }
}

function sentence(length: number): string {
  return Array.from({ length }, () => words[Math.floor(Math.random() * words.length)]).join(' ')
}

async function fill(store: FullStore): Promise<void> {
  let begun = 0
  const one = async (): Promise<void> => {
    while (begun < tasks) {
      begun += 1
      const hasFile = begun % 100 === 0
      const { id } = await createTask(store, {}, { idempotency: { key: `m${begun}`, hash: 'h', ttlMs: 86_400_000 } })
      const parts = Array.from({ length: 8 }, () => chunk({ text: sentence(12) }))
      if (hasFile) parts.push(chunk({ raw: randomBytes(200_000).toString('base64') }))
      await store.tasks.append(id, { expectedSeq: 1, records: parts })
      const status = taskStatusOf('TASK_STATE_COMPLETED')
      const records = [newRecord({ type: 'status', status })]
      await store.tasks.append(id, { expectedSeq: 1 + parts.length, records, change: { status } })
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

async function timed<Result>(work: () => Promise<Result>): Promise<readonly [seconds: number, result: Result]> {
  const from = performance.now()
  const result = await work()
  return [(performance.now() - from) / 1_000, result]
}

const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

async function backUp(from: Place, file: string) {
  const reader = await from.reader()
  const [seconds, bytes] = await timed(async () => {
    const pieces = writeDump(reader, { backup: { program: 'bench', createdAt: Date.now() } })
    await pipeline(Readable.from(pieces), createWriteStream(file))
    return statSync(file).size
  })
  await reader.close()
  return { seconds, bytes }
}

async function restore(to: Place, file: string) {
  const loader = await to.loader()
  const [seconds] = await timed(async () => {
    const { position } = await readDump(createReadStream(file, { highWaterMark: 2 ** 20 }), { load: loader.load })
    await loader.finish(position)
  })
  await loader.close()
  return { seconds }
}

const places = [
  { from: sqlitePlace('from'), to: sqlitePlace('to') },
  { from: await postgresPlace(), to: await postgresPlace() },
]
for (const { from, to } of places) {
  const store = from.open()
  const [seconds] = await timed(() => fill(store))
  await store.close()
  console.log(`${from.name}: ${tasks} tasks, written in ${seconds.toFixed(1)} s`)
  const file = join(folder, 'backup')
  const backup = await backUp(from, file)
  const restored = await restore(to, file)
  console.log(`  backup ${backup.seconds.toFixed(1)} s, ${mb(backup.bytes)}`)
  console.log(`  restore ${restored.seconds.toFixed(1)} s`)
}
process.exit(0)
