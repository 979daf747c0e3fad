/**
 * One replica as a separate process: `serve()` on PostgreSQL with agents of each kind of resumption. Their output names
 * the replica and the attempt that ran them, so that a log shows its writer.
 */
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { artifact, inputRequired } from '@parley/a2a'
import type { Agent, Report, Turn } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { newestVersion } from '../../packages/a2a/src/stores/migration-step.ts'
import { migrationSteps } from '../../packages/a2a/src/stores/postgres/migrate.ts'
import { openPostgresStore } from '../../packages/a2a/src/stores/postgres/postgres-store.ts'
import { countOf, createCounter, createFragileCounter } from './counter-agent.ts'

export interface ReplicaSettings {
  readonly name: string
  readonly port: number
  readonly database: string
  /** Base64. */
  readonly masterKey: string
  /** Omitted: the default. */
  readonly leaseTtlMs?: number
  readonly drainMs: number
  /** The server of jobs that outlive a replica. */
  readonly jobs?: string
  /** The SQL of one more migration step: the replica is of the next version. */
  readonly nextStep?: string
}

const settings = JSON.parse(process.argv[2] ?? '{}') as ReplicaSettings
const by = settings.name

const counter = createCounter(by)
const fragile = createFragileCounter(by)

/** Two turns: asks for input, then answers with it. */
const asker: Agent = {
  resume: 'rerun',
  async *run({ text, history, resumed }: Turn): AsyncGenerator<Report> {
    const said = (await history()).filter(({ role }) => role === 'ROLE_USER')
    await sleep(2)
    if (said.length < 2) yield inputRequired('And?')
    else yield artifact('answer', { text, last: true, metadata: { by, attempt: resumed?.attempt ?? 1 } })
  },
}

/** Its work runs in another process and continues without this one: it is started once and followed from where the log ends. */
const remote: Agent = {
  resume: 'reattach',
  async *run(turn: Turn): AsyncGenerator<Report> {
    await turn.checkpoint({ job: turn.task.id })
    await startJob(turn)
    yield* listenTo(turn)
  },
  async *reattach(turn: Turn): AsyncGenerator<Report> {
    yield* listenTo(turn)
  },
}

async function startJob({ task, text }: Turn): Promise<void> {
  const [until, pace] = text.split(' ')
  await fetch(`${settings.jobs}/${task.id}?until=${until}&pace=${pace}`, { method: 'POST' })
}

async function* listenTo(turn: Turn): AsyncGenerator<Report> {
  const { task, message, resumed, signal } = turn
  const until = Number(turn.text.split(' ')[0])
  const id = `count ${message.messageId}`
  const attempt = resumed?.attempt ?? 1
  const from = countOf(resumed?.task.artifacts?.find(({ artifactId }) => artifactId === id))
  const { status, body } = await fetch(`${settings.jobs}/${task.id}?from=${from}`, { signal })
  if (status === 404) {
    // The replica died between the checkpoint and the call.
    await startJob(turn)
    return yield* listenTo(turn)
  }
  let next = from
  for await (const line of createInterface({ input: Readable.fromWeb(body as never) })) {
    next = Number(line) + 1
    yield artifact(id, { text: `${line} `, append: line !== '0', last: next === until, metadata: { by, attempt } })
  }
  if (next < until) throw new Error('the job fell silent')
}

const newest = newestVersion(migrationSteps)
const known =
  settings.nextStep === undefined
    ? migrationSteps
    : [...migrationSteps, { version: newest + 1, sql: settings.nextStep, minReader: newest }]
const pool = new pg.Pool({ connectionString: settings.database, max: 6 })
const server = await serve({
  port: settings.port,
  drainMs: settings.drainMs,
  store: openPostgresStore(
    {
      pool,
      masterKey: settings.masterKey,
      ...(settings.leaseTtlMs === undefined ? {} : { leaseTtlMs: settings.leaseTtlMs }),
      listen: () => new pg.Client(settings.database),
      endPool: true,
    },
    known,
  ),
  agents: { counter, fragile, asker, remote },
  log: { debug() {}, info() {}, warn() {}, error() {}, ...(process.env['PARLEY_LOUD'] === '1' ? console : {}) },
})

process.once('SIGTERM', () => {
  void server.close().then(() => process.exit(0))
})
// The parent process has exited.
process.once('disconnect', () => process.exit(1))
process.send?.({ port: server.port })
