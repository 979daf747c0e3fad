/**
 * One replica, as a process of its own: `serve()` on PostgreSQL with agents of each kind of resumption. What they say names
 * the replica that ran them and the attempt, so that a log tells who wrote it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { artifact, inputRequired } from '@parley/a2a'
import type { Agent, Artifact, Report, Turn } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { postgresStore } from '@parley/a2a/stores/postgres'

export interface ReplicaSettings {
  readonly name: string
  readonly port: number
  readonly database: string
  /** Base64. */
  readonly masterKey: string
  readonly leaseTtlMs: number
  readonly drainMs: number
}

const settings = JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings
const by = settings.name

/** `60 4`: sixty numbers, four milliseconds apart. Goes on where the log ends, so that each number is there exactly once. */
const counter: Agent = {
  resume: 'rerun',
  async *run({ text, message, resumed, signal }: Turn): AsyncGenerator<Report> {
    const [until = 0, pace = 0] = text.split(' ').map(Number)
    const id = `count ${message.messageId}`
    const attempt = resumed?.attempt ?? 1
    const from = countOf(resumed?.task.artifacts?.find(({ artifactId }) => artifactId === id))
    for (let n = from; n < until && !signal.aborted; n += 1) {
      if (pace > 0) await sleep(pace)
      yield artifact(id, { text: `${n} `, append: n > 0, last: n === until - 1, metadata: { by, attempt } })
    }
  },
}

function countOf(written: Artifact | undefined): number {
  const text = written?.parts.map((part) => ('text' in part ? part.text : '')).join('') ?? ''
  return text.split(' ').length - 1
}

/** Cannot be resumed: whoever takes it up fails it, with a reason. */
async function* fragile({ text }: Turn): AsyncGenerator<Report> {
  const [until = 0, pace = 0] = text.split(' ').map(Number)
  for (let n = 0; n < until; n += 1) {
    await sleep(pace)
    yield artifact('words', { text: `${n} `, append: n > 0, metadata: { by, attempt: 1 } })
  }
}

/** Two turns: asks, and answers with what it was told. */
const asker: Agent = {
  resume: 'rerun',
  async *run({ text, history, resumed }: Turn): AsyncGenerator<Report> {
    const said = (await history()).filter(({ role }) => role === 'ROLE_USER')
    await sleep(2)
    if (said.length < 2) yield inputRequired('And?')
    else yield artifact('answer', { text, last: true, metadata: { by, attempt: resumed?.attempt ?? 1 } })
  },
}

const pool = new pg.Pool({ connectionString: settings.database, max: 6 })
const server = await serve({
  port: settings.port,
  drainMs: settings.drainMs,
  store: postgresStore({
    pool,
    masterKey: settings.masterKey,
    leaseTtlMs: settings.leaseTtlMs,
    listen: () => new pg.Client(settings.database),
    endPool: true,
  }),
  agents: { counter, fragile, asker },
  log: { debug() {}, info() {}, warn() {}, error() {}, ...(process.env['PARLEY_LOUD'] === '1' ? console : {}) },
})

process.once('SIGTERM', () => {
  void server.close().then(() => process.exit(0))
})
// Whoever started it is gone.
process.once('disconnect', () => process.exit(1))
process.send?.({ port: server.port })
