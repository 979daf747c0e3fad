/**
 * The hub as a program: on PostgreSQL two processes act as one hub, and when one is terminated the other continues its work; on
 * SQLite a single process exits in time and continues its work after a restart.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { freePort } from '../free-port.ts'
import { urlOf } from '../postgres/cluster.ts'
import { masterKey, openDatabase, skipReason } from '../postgres/databases.ts'

const program = join(import.meta.dirname, '../../packages/hub/src/cli/main.ts')
const running = new Set<ChildProcess>()
after(() => running.forEach((hub) => hub.kill('SIGKILL')))

interface Hub {
  readonly url: string
  /** Its output so far. */
  readonly lines: readonly string[]
  /** Resolves with the exit code and how long it took. */
  end(): Promise<{ readonly code: unknown }>
}

async function startHub(env: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<Hub> {
  const child = spawn(process.execPath, ['--conditions=parley-source', program, ...flags], {
    env: { PATH: process.env['PATH'], PORT: '0', GRPC_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(child)
  const exited = once(child, 'exit').finally(() => running.delete(child))
  const lines: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      const [, found] = /listening on (\S+)/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    void exited.then(() => reject(new Error(`the hub ended: ${lines.join('\n')}`)))
  })
  return {
    url,
    lines,
    async end() {
      child.kill('SIGTERM')
      const [code] = (await exited) as [unknown]
      return { code }
    },
  }
}

const numbers = (until: number): string => Array.from({ length: until }, (_, n) => `${n + 1} `).join('')

/** The whole output of a task, across restarts of its server. */
async function textOf(url: string, id: string): Promise<string> {
  const answer = await (await connect(`${url}/a2a/clock`)).wait(id)
  assert.equal(answer.status.state, 'TASK_STATE_COMPLETED')
  const parts = (answer.artifacts ?? []).flatMap((artifact) => artifact.parts)
  return parts
    .map((part) => ('text' in part ? part.text : ''))
    .join('')
    .trim()
    .split(/\s+/)
    .join(' ')
}

const skip = await skipReason()
describe('the hub on PostgreSQL', { skip, timeout: 120_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const env = { PARLEY_MASTER_KEY: masterKey.toString('base64') }
  const store = urlOf(database.cluster, database.name)

  it('acts as one hub in two processes: when one is terminated, the other continues its work at once [full]', async () => {
    const [first, second] = await Promise.all([
      startHub({ ...env, PARLEY_STORE: store }),
      startHub(env, '--store', store),
    ])
    assert.ok(second.lines.every((line) => !line.includes(store)))
    const { id } = await (await connect(`${first.url}/a2a/clock`)).start('4')
    const { code } = await first.end()
    assert.equal(code, 0)
    assert.equal(await textOf(second.url, id), numbers(4).trim())
    assert.equal((await second.end()).code, 0)
  })

  it('refuses to start without a master key and reports why', async () => {
    const child = spawn(process.execPath, ['--conditions=parley-source', program], {
      env: { PATH: process.env['PATH'], PORT: '0', PARLEY_STORE: store },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [code] = (await once(child, 'close')) as [number]
    assert.equal(code, 1)
    assert.match(said, /^masterKey: is required with PostgreSQL/)
  })
})

describe('the hub on SQLite', { timeout: 120_000 }, () => {
  it('exits in time on SIGTERM and continues its work after a restart [full]', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-hub-'))
    const env = { PARLEY_DATA: folder, PORT: String(await freePort()) }
    const first = await startHub(env)
    const client = await connect(`${first.url}/a2a/clock`, { log: { warn() {}, debug() {} } })
    const stream = client.stream('3')
    const { value: begun } = await stream[Symbol.asyncIterator]().next()
    const id = begun !== undefined && 'task' in begun ? begun.task.id : ''
    const { code } = await first.end()
    assert.equal(code, 0)
    // Its agent can be run again, so the hub does not wait for it. The suite's timeout is the limit.
    const second = await startHub(env)
    assert.equal(await textOf(second.url, id), numbers(3).trim())
    await second.end()
    await rm(folder, { recursive: true })
  })
})
