/** Runs commands of `parley` as an operator does: in a process of their own, which can be killed. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import type { TaskLog } from '../cluster/check-history.ts'
import { readLogsOf, type TaskKey } from '../cluster/logs.ts'

const program = join(import.meta.dirname, '../../packages/hub/src/cli/main.ts')

export interface ParleyResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Starts a command. Its standard input is a pipe. */
export function startParley(...args: readonly string[]): {
  readonly child: ChildProcess
  result: Promise<ParleyResult>
} {
  const child = spawn(process.execPath, ['--conditions=parley-source', program, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    stdio: 'pipe',
  })
  // A command that is killed does not read the rest.
  child.stdin.on('error', () => {})
  const result = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[code], stdout, stderr]) => ({ code: code as number | null, stdout, stderr }),
  )
  return { child, result }
}

/** Throws with the output of a command that fails. */
export async function runParley(...args: readonly string[]): Promise<ParleyResult> {
  const result = await startParley(...args).result
  if (result.code !== 0) throw new Error(`parley ${args.join(' ')} ended with ${result.code}: ${result.stderr}`)
  return result
}

/** The logs of some tasks in a data directory that was restored. */
export async function readRestoredLogs(data: string, taskIds: readonly string[]): Promise<readonly TaskLog[]> {
  const file = join(data, 'parley.db')
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare('SELECT id, context_id FROM tasks').all() as unknown as TaskKey[]
  database.close()
  const store = sqliteStore(file)
  try {
    const wanted = new Set(taskIds)
    return await readLogsOf(
      rows.filter(({ id }) => wanted.has(id)),
      store,
    )
  } finally {
    await store.close()
  }
}
