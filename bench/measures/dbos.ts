/**
 * Our task beside a durable workflow of DBOS, each on its own database of one PostgreSQL server, in alternating rounds.
 *
 * `@dbos-inc/dbos-sdk` is installed into `bench/.parley` when it is first measured, and is no dependency of this repository. A quick
 * run of all measures, as in `npm test`, installs nothing: it measures DBOS only where it is installed already.
 */
import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { waitForMessage } from '../contestants/contestant.ts'
import type { DbosLocation } from '../contestants/dbos.ts'
import { type Replica, startReplica } from '../contestants/replicas.ts'
import { type Load, type ResponseCheck, openLoad } from '../load/open-load.ts'
import { type Measure, formatValue, median } from '../report.ts'
import { question, requestText, sendMessageBody } from '../workload.ts'
import type { MeasureGroup, Plan } from './plan.ts'
import { type BenchDatabase, findDatabase } from './postgres.ts'

const connections = 32
const version = '5.3.0'
const prefix = join(import.meta.dirname, '../.parley', `dbos-${version}`)
const module = join(prefix, 'node_modules/@dbos-inc/dbos-sdk/dist/src/index.js')

/** Returns why DBOS cannot be measured, if it cannot. */
async function findDbos(mayInstall: boolean): Promise<string | undefined> {
  if (existsSync(module)) return undefined
  if (!mayInstall) return 'DBOS is not installed: npm run bench -- --only dbos installs it'
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts']
  try {
    await promisify(execFile)('npm', ['install', '--prefix', prefix, ...quiet, `@dbos-inc/dbos-sdk@${version}`], {
      timeout: 120_000,
    })
    return undefined
  } catch (error) {
    return `DBOS cannot be installed: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`
  }
}

async function startDbos(database: string): Promise<Replica> {
  const location: DbosLocation = { database, module }
  const child = fork(join(import.meta.dirname, '../contestants/dbos.ts'), [JSON.stringify(location)], {
    execArgv: ['--conditions=parley-source', '--expose-gc'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const { port } = await waitForMessage(child, 'port')
  return {
    port,
    async usage(collect = false) {
      const usage = waitForMessage(child, 'usage')
      child.send({ order: 'usage', collect })
      return (await usage).usage
    },
    async close() {
      const exited = once(child, 'exit')
      child.send({ order: 'close' })
      await exited
    },
  }
}

function checkAnswer(): ResponseCheck {
  let body = ''
  return {
    piece: (text) => (body += text),
    end(status) {
      if (status !== 200 || !body.includes('TASK_STATE_COMPLETED')) throw new Error(`${status} ${body}`)
      body = ''
    },
  }
}

const openTaskLoad = (port: number): Promise<Load> =>
  openLoad({
    port,
    connections,
    nextRequest: () => requestText(port, 'task', sendMessageBody(question)),
    createCheck: checkAnswer,
  })

interface Contender {
  readonly server: Replica
  readonly database: BenchDatabase
  readonly load: Load
  readonly rates: number[]
  readonly cpuMicros: number[]
  statements: number
  completed: number
}

async function openContender(
  start: (url: string) => Promise<Replica>,
): Promise<Contender | { readonly missing: string }> {
  const database = await findDatabase()
  if ('missing' in database) return database
  const server = await start(database.url)
  const load = await openTaskLoad(server.port)
  return { server, database, load, rates: [], cpuMicros: [], statements: 0, completed: 0 }
}

async function measureRound(contender: Contender, durationMs: number): Promise<void> {
  const before = (await contender.server.usage()).cpuMicros
  const { completed, perSecond } = await contender.load.run(durationMs)
  contender.rates.push(perSecond)
  contender.cpuMicros.push(((await contender.server.usage()).cpuMicros - before) / completed)
  contender.completed += completed
}

async function measureDbos(plan: Plan): Promise<readonly Measure[]> {
  const isAskedFor = !plan.wants('cluster')
  const reason = await findDbos(!plan.isQuick || isAskedFor)
  const ours = reason === undefined ? await openContender(startReplica) : { missing: reason }
  const theirs = 'missing' in ours ? ours : await openContender(startDbos)
  if ('missing' in ours || 'missing' in theirs) {
    plan.tell(`dbos: not measured. ${'missing' in theirs ? theirs.missing : ''}`)
    return []
  }
  const both = [ours, theirs]
  for (let index = 0; index < plan.warmUpRounds; index++) for (const { load } of both) await load.run(plan.roundMs)
  for (const one of both) one.statements = -(await one.database.load()).statements
  for (let index = 0; index < plan.rounds; index++) for (const one of both) await measureRound(one, plan.roundMs)
  for (const one of both) {
    one.load.close()
    // When its connections are closed, the counters of the database are complete.
    await one.server.close()
    one.statements += (await one.database.load()).statements
  }
  return [
    compare('dbosTask', 'per second', 'more', ours, theirs, ({ rates }) => median(rates)),
    compare('dbosTaskCpu', 'CPU µs each', 'less', ours, theirs, ({ cpuMicros }) => median(cpuMicros)),
    compare('dbosTransactions', 'transactions each', 'less', ours, theirs, (one) => one.statements / one.completed),
    {
      name: 'dbosTimes',
      what: 'Tasks for each workflow of DBOS',
      unit: '×',
      better: 'more',
      values: { parley: median(ours.rates) / median(theirs.rates) },
    },
  ]
}

/** The figure of DBOS is part of the text: it has no column, because it is no server of A2A. */
function compare(
  name: string,
  unit: string,
  better: Measure['better'],
  ours: Contender,
  theirs: Contender,
  valueOf: (contender: Contender) => number,
): Measure {
  const what = `SendMessage to Task, Postgres (a workflow of DBOS: ${formatValue(valueOf(theirs))})`
  return { name, what, unit, better, values: { parley: valueOf(ours) } }
}

export const dbosGroup: MeasureGroup = { names: ['dbos'], measure: measureDbos }
