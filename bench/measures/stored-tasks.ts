/**
 * Data with many finished tasks, for GetTask of tasks that are not in memory and for ListTasks. A server creates one task; the others are
 * copies of it under their own ids, written to its store directly. Files of SQLite are kept between runs.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from 'node:sqlite'
import pg from 'pg'
import type { FullStore } from '@parley/a2a/stores'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { openA2aJsSqlite } from '../contestants/a2a-js-store.ts'
import { type ContestantData, createData, dataRoot, startContestant } from '../contestants/contestant.ts'
import { type ContestantName, needsPostgres } from '../contestants/lineup.ts'
import { ask } from '../load/connection.ts'
import { question, requestText, sendMessageBody } from '../workload.ts'
import type { Plan } from './plan.ts'

const batch = 2_000

/** The id of a stored task: a UUID that does not grow with the index, as the ids of servers. */
export function storedTaskId(index: number): string {
  const hex = createHash('sha1').update(String(index)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** A number for each task: one is a millisecond newer than the one before. */
async function eachBatch(count: number, write: (indexes: readonly number[]) => Promise<void> | void): Promise<void> {
  for (let from = 0; from < count; from += batch) {
    await write(Array.from({ length: Math.min(batch, count - from) }, (_, index) => from + index))
  }
}

async function createTask(name: ContestantName, data: ContestantData, plan: Plan): Promise<string> {
  const server = await startContestant(name, plan, { data })
  const answer = await ask(server.port, requestText(server.port, 'task', sendMessageBody(question)))
  await server.close()
  return (JSON.parse(answer) as { result: { task: { id: string } } }).result.task.id
}

async function fillParleyPostgres(store: FullStore, taskId: string, count: number): Promise<void> {
  const row = await store.tasks.load(taskId)
  const text = JSON.stringify(await store.tasks.read(taskId, 0))
  if (row === undefined) throw new Error(`no task ${taskId}`)
  const { head: _, due: __, ...template } = row
  const startAt = Date.now() - count
  await eachBatch(count, async (indexes) => {
    const appends = indexes.map((index) => {
      const id = storedTaskId(index)
      const at = startAt + index
      const status = { ...template.status, timestamp: new Date(at).toISOString() }
      const records = JSON.parse(text.replaceAll(taskId, id).replaceAll(template.contextId, id)) as { body: never }[]
      return store.tasks.append(id, {
        expectedSeq: 0,
        create: { ...template, id, contextId: id, status, statusAt: at, createdAt: at },
        records: records.map(({ body }) => ({ at, body })),
      })
    })
    const wrong = (await Promise.all(appends)).find(({ outcome }) => outcome !== 'appended')
    if (wrong !== undefined) throw new Error(`the store answered ${wrong.outcome}`)
  })
  await store.close()
}

const copiedColumns = 'tenant, owner, status_state, status, artifacts, history, metadata, protocol_version'

/**
 * Writes to a file of SQLite in bulk: one transaction without a journal, in a cache that holds the indexes of random ids; the other
 * indexes are built at the end. 1,000,000 tasks of `@a2a-js/sdk` take 27 s of CPU; with commits of 2,000 tasks and the usual cache they
 * took more than seven minutes, and ours, on a busy machine, twenty: most of it was waiting for the disk.
 */
function fillInBulk(database: DatabaseSync, write: () => void): void {
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -512000; BEGIN')
  const indexes = database
    .prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('tasks', 'log') AND sql IS NOT NULL",
    )
    .all() as { name: string; sql: string }[]
  for (const { name } of indexes) database.exec(`DROP INDEX "${name}"`)
  write()
  for (const { sql } of indexes) database.exec(sql)
  database.exec('COMMIT; PRAGMA journal_mode = WAL')
  database.close()
}

type StoredRow = Record<string, SQLOutputValue>

function fillParleySqlite(file: string, taskId: string, count: number): void {
  const database = new DatabaseSync(file)
  const rowsOf = (sql: string, ...values: SQLInputValue[]): StoredRow[] => database.prepare(sql).all(...values)
  const inserter = (table: string, row: StoredRow): ((changed: StoredRow) => void) => {
    const names = Object.keys(row)
    const insert = database.prepare(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    )
    return (changed) => void insert.run(...names.map((name) => (name in changed ? changed : row)[name] ?? null))
  }
  const [task = {}] = rowsOf('SELECT * FROM tasks WHERE id = ?', taskId)
  const ref = Number(task['ref'])
  const log = rowsOf('SELECT * FROM log WHERE task = ? ORDER BY position', ref)
  const { position } = rowsOf('SELECT max(position) AS position FROM log')[0] ?? {}
  const startAt = Date.now() - count
  const timestamp = (JSON.parse(String(task['status'])) as { timestamp: string }).timestamp
  fillInBulk(database, () => {
    const insertTask = inserter('tasks', task)
    const insertLog = log.map((row) => inserter('log', row))
    for (let index = 0; index < count; index++) {
      const id = storedTaskId(index)
      const at = startAt + index
      const status = String(task['status']).replace(timestamp, new Date(at).toISOString())
      insertTask({ ref: ref + 1 + index, id, context_id: id, status, status_at: at, created_at: at, last_at: at })
      for (const [n, insert] of insertLog.entries()) {
        const records = String(log[n]?.['records']).replaceAll(taskId, id).replaceAll(String(task['context_id']), id)
        insert({ position: Number(position) + 1 + index * log.length + n, task: ref + 1 + index, records })
      }
    }
    database.prepare('UPDATE counters SET tasks = tasks + ? WHERE tasks > 0').run(count)
  })
}

function fillA2aJsSqlite(file: string, taskId: string, count: number): void {
  const database = openA2aJsSqlite(file)
  // Found once: its id alone is no index.
  const template = database.prepare(`SELECT ${copiedColumns} FROM tasks WHERE id = ?`).get(taskId) ?? {}
  const copied = Object.values(template) as SQLInputValue[]
  const startAt = Date.now() - count
  fillInBulk(database, () => {
    const copy = database.prepare(
      `INSERT INTO tasks (id, context_id, status_last_updated, ${copiedColumns}) VALUES (?, ?, ?${', ?'.repeat(copied.length)})`,
    )
    for (let index = 0; index < count; index++) {
      const id = storedTaskId(index)
      copy.run(id, id, startAt + index, ...copied)
    }
  })
}

async function fillA2aJsPostgres(url: string, taskId: string, count: number): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  const startAt = Date.now() - count
  await eachBatch(count, async (indexes) => {
    await client.query(
      `INSERT INTO tasks (id, context_id, status_last_updated, ${copiedColumns})
       SELECT new.id, new.id, new.at, ${copiedColumns} FROM tasks, unnest($1::text[], $2::bigint[]) AS new (id, at)
       WHERE tasks.id = $3`,
      [indexes.map(storedTaskId), indexes.map((index) => startAt + index), taskId],
    )
  })
  await client.query('VACUUM ANALYZE tasks')
  await client.end()
}

async function fill(name: ContestantName, data: ContestantData, count: number, plan: Plan): Promise<void> {
  const { directory, database } = data
  const taskId = await createTask(name, data, plan)
  const file = join(directory, 'tasks.db')
  if (name === 'a2a-js-sqlite') return fillA2aJsSqlite(file, taskId, count)
  if (database === undefined) return fillParleySqlite(file, taskId, count)
  if (name === 'a2a-js-postgres') return fillA2aJsPostgres(database, taskId, count)
  const pool = new pg.Pool({ connectionString: database, max: 10 })
  return fillParleyPostgres(postgresStore({ pool, masterKey: new Uint8Array(32), endPool: true }), taskId, count)
}

/** Changes with the programs that write the files. */
function formatKey(): string {
  const root = join(import.meta.dirname, '../..')
  const files = globSync(['packages/a2a/src/{stores,model}/**/*.ts', 'bench/measures/stored-tasks.ts'], { cwd: root })
  const hash = createHash('sha256')
  for (const file of files.filter((path) => !path.endsWith('.test.ts')).toSorted()) {
    hash.update(readFileSync(join(root, file)))
  }
  return hash.digest('hex').slice(0, 12)
}

/** Data with this many tasks. Those in files are kept for the next run: read them only. */
export async function storedTasks(name: ContestantName, count: number, plan: Plan): Promise<ContestantData> {
  if (needsPostgres(name)) {
    const data = await createData(name)
    await fill(name, data, count, plan)
    return data
  }
  const kept = join(dataRoot, 'stored')
  const directory = join(kept, `${name}-${count}-${formatKey()}`)
  if (!existsSync(directory)) {
    mkdirSync(kept, { recursive: true })
    for (const old of globSync(join(kept, `${name}-${count}-*`))) rmSync(old, { recursive: true })
    plan.tell(`${name}: writing ${count.toLocaleString('en')} tasks`)
    const data = await createData(name)
    await fill(name, data, count, plan)
    renameSync(data.directory, directory)
  }
  return { directory, remove: async () => {} }
}
