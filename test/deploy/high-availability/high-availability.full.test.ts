/**
 * docs/guides/high-availability.md is correct: its commands run as printed on a real recipe, which then loses one part after the
 * other under load. `PARLEY_FULL=1` injects every fault three times; `PARLEY_SEED` repeats a run.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { promisify } from 'node:util'
import pg from 'pg'
import { eventually, findOrInstall } from '../project-imports.ts'
import { createRandom } from '../../crash/random.ts'
import { assertOutput } from '../../journeys/pages/match-output.ts'
import { pageSteps, readPage } from '../../journeys/pages/page-steps.ts'
import { allFaults, quickFaults, runChaos } from './chaos.ts'
import { createRecipe, root } from './running-recipe.ts'
import type { RunningRecipe } from './running-recipe.ts'

const page = 'docs/guides/high-availability.md'
const isFull = process.env['PARLEY_FULL'] === '1'
const seed = Number(process.env['PARLEY_SEED'] ?? 7)

describe('the high availability recipe', () => {
  it('asks a PostgreSQL server whether it is the primary, as its comments say', () => {
    const config = readFileSync(join(root, 'deploy/high-availability/haproxy.cfg'), 'utf8')
    const sent = [...config.matchAll(/send-binary (\w+)/g)].map(([, hex]) => Buffer.from(hex as string, 'hex'))
    const [startup = Buffer.alloc(0), query = Buffer.alloc(0)] = sent
    assert.equal(startup.readUInt32BE(0), startup.length)
    assert.equal(startup.subarray(8).toString(), 'user\0parley_check\0database\0postgres\0\0')
    assert.equal(query.readUInt32BE(1), query.length - 1)
    assert.equal(query.subarray(5).toString(), 'SELECT pg_is_in_recovery()\0')
  })

  it('has the files that the page quotes', () => {
    const files = pageSteps(readPage(page)).flatMap((step) => (step.kind === 'file' ? [step] : []))
    assert.ok(files.length > 0)
    for (const { name, content } of files) assert.equal(content, readFileSync(join(root, name), 'utf8'), name)
  })
})

async function skipReason(): Promise<string | false> {
  const [postgres, haproxy, curl] = [
    await findOrInstall('postgres'),
    await findOrInstall('haproxy'),
    await findOrInstall('curl'),
  ]
  if (haproxy === undefined || curl === undefined) return 'HAProxy or curl is not installed'
  const hasBackup = postgres !== undefined && existsSync(join(postgres, 'pg_basebackup'))
  return hasBackup ? false : 'there is no PostgreSQL with pg_basebackup'
}

const skip = await skipReason()
describe('the high availability recipe on this machine', { skip, timeout: 1_800_000 }, async () => {
  if (skip !== false) return
  const recipe = await createRecipe()
  after(() => recipe.close())
  await recipe.start()

  it('runs the commands of the page', async () => {
    const steps = pageSteps(readPage(page)).flatMap((step) => (step.kind === 'command' ? [step] : []))
    const [start, ...rest] = steps
    assert.equal(start?.script, 'npm run ha -- start\n')
    assertOutput(asOnPage(recipe, recipe.lines.slice(1).join('\n')), start.output ?? { format: 'text', content: '' })
    assert.ok(rest.length >= 4)
    for (const { script, output } of rest) {
      // The long run has a test of its own, below.
      if (script.includes('ha-chaos')) continue
      const said = await promisify(execFile)('sh', ['-ec', onThisMachine(recipe, script)], { cwd: root })
      if (output !== undefined) assertOutput(asOnPage(recipe, said.stdout), output)
    }
  })

  it('loses and doubles nothing while its parts are killed under load', async () => {
    const faults = isFull ? [...allFaults, ...allFaults, ...allFaults] : [...quickFaults]
    const planned = faults.length
    const random = createRandom(seed)
    const log = (line: string): void => console.log(line)
    const result = await runChaos({ recipe, nextFault: () => faults.shift(), random, log })
    console.log(result)
    assert.deepEqual(result.violations, [])
    assert.equal(result.faults, planned)
    assert.ok(result.runAgain > 0, 'no turn was taken over')
  })

  it('stops everything at Ctrl+C, and continues with its data at the next start', async () => {
    const { processes, database } = await recipe.status()
    const tasks = await countTasks(recipe, database.routePort)
    assert.ok(tasks > 0)
    assert.equal(await recipe.stop(), 0)
    for (const { pid } of processes) assert.throws(() => process.kill(pid ?? 0, 0))
    await recipe.start()
    assert.deepEqual((await recipe.status()).database, database)
    assert.equal(await countTasks(recipe, database.routePort), tasks)
  })

  it('refuses the database to hubs while two servers say that they are the primary', async () => {
    const { database } = await recipe.status()
    const standby = database.primary === 'pg1' ? 'pg2' : 'pg1'
    const port = recipe.port + (standby === 'pg1' ? 2 : 3)
    const mistake = new pg.Client({ host: join(recipe.data, 'run/postgres'), port, user: 'postgres' })
    await mistake.connect()
    await mistake.query('SELECT pg_promote()')
    await mistake.end()
    await eventually(async () => !(await canConnect(recipe, database.routePort)), 'the route to be closed')
  })
})

async function countTasks(recipe: RunningRecipe, port: number): Promise<number> {
  const client = clientOf(recipe, port)
  await client.connect()
  const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM parley.tasks')
  await client.end()
  return Number(rows[0]?.count)
}

async function canConnect(recipe: RunningRecipe, port: number): Promise<boolean> {
  const client = clientOf(recipe, port)
  client.on('error', () => {})
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

function clientOf({ secrets }: RunningRecipe, port: number): pg.Client {
  return new pg.Client({ host: '127.0.0.1', port, user: 'parley', password: secrets.hubPassword, database: 'parley' })
}

/** The page has the default folder and ports. */
function onThisMachine({ data, port }: RunningRecipe, script: string): string {
  return script
    .replaceAll(/npm run ha -- (\w+)/g, `npm run -s ha -- $1 --data '${data}'`)
    .replaceAll(/(?<=127\.0\.0\.1:)80(8\d)/g, (_, last: string) => String(port + Number(last) - 80))
}

function asOnPage({ data, port }: RunningRecipe, output: string): string {
  return output
    .replaceAll(/(?<=127\.0\.0\.1:)(\d+)/g, (_, own: string) => String(8080 + Number(own) - port))
    .replaceAll(data, '/srv/parley/ha-data')
}
