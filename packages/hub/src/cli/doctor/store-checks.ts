/** Whether the store can be used, and whether its disk has space. Opens nothing that a running hub holds. */
import { formatSize } from '@parley/cli/internal'
import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { describeStore, sqliteFile, type StoreSection } from '../../store/open-store.ts'
import { operatorMessage } from '../../json/operator-message.ts'
import type { ClockReading } from './check-clock.ts'
import { failed, ok, warning, type DoctorFinding } from './finding.ts'
import type { HubState } from './hub-checks.ts'

export interface StoreResult {
  readonly findings: readonly DoctorFinding[]
  readonly clocks: readonly ClockReading[]
}

const connectTimeoutMs = 5_000

export async function checkStore({ store, dataDir }: StoreSection, hub: HubState): Promise<StoreResult> {
  const name = describeStore({ store: store.url, dataDir })
  if (hub.isReady === false) {
    const finding = failed('store', `${name}: the running hub cannot use it`, 'See `parley logs` for the reason.')
    return { findings: [finding], clocks: [] }
  }
  if (store.url === 'memory:') {
    const remedy = 'Remove `store: memory:` to keep tasks in SQLite.'
    return { findings: [warning('store', 'memory: tasks are lost when the hub stops', remedy)], clocks: [] }
  }
  if (!store.url.startsWith('sqlite:')) {
    const { findings, clocks } = await checkPostgres(store.url, name)
    return { findings: [...findings, ...checkMasterKey('masterKey' in store ? store.masterKey : undefined)], clocks }
  }
  return { findings: [await checkFile(resolve(sqliteFile({ store: store.url, dataDir })))], clocks: [] }
}

/** The file and its folder must be writable. The first start creates both. */
async function checkFile(file: string): Promise<DoctorFinding> {
  const place = await nearestExisting(file)
  try {
    const isFile = (await stat(place)).isFile()
    await access(place, constants.R_OK | constants.W_OK | (isFile ? 0 : constants.X_OK))
    if (isFile) await access(dirname(place), constants.W_OK | constants.X_OK)
    return ok('store', `${file}${place === file ? '' : ' (created at the first start)'}`)
  } catch (reason) {
    const remedy = `Give your user access: chown -R $(id -u) ${place}. Or choose another folder with --data.`
    return failed('store', (reason as Error).message, remedy)
  }
}

async function nearestExisting(path: string): Promise<string> {
  for (let place = path; ; place = dirname(place)) {
    const exists = await stat(place).then(
      () => true,
      () => false,
    )
    if (exists || place === dirname(place)) return place
  }
}

/** `parley up` refuses to start without it. */
function checkMasterKey(key = ''): readonly DoctorFinding[] {
  const { length } = Buffer.from(key, 'base64')
  if (length === 32) return []
  const remedy = 'Set PARLEY_MASTER_KEY to 32 bytes as base64, the same for all replicas: openssl rand -base64 32'
  return [failed('master key', key === '' ? 'is required with PostgreSQL' : `has ${length} bytes`, remedy)]
}

async function checkPostgres(url: string, name: string): Promise<StoreResult> {
  const { default: pg } = await import('pg')
  let client: InstanceType<typeof pg.Client> | undefined
  try {
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs })
    // Without a listener an error after the timeout would end the process.
    client.on('error', () => {})
    await client.connect()
    const sentAt = Date.now()
    const { rows } = await client.query<{ now: Date }>('SELECT clock_timestamp() AS now')
    const readAt = rows[0]?.now.getTime()
    const clocks =
      readAt === undefined ? [] : [{ source: 'the database', offsetMs: readAt - (sentAt + Date.now()) / 2 }]
    return { findings: [ok('store', name)], clocks }
  } catch (reason) {
    const remedy = 'Check that PostgreSQL runs, and the host, user, password and database in `store`.'
    return { findings: [failed('store', `${name}: ${operatorMessage(reason)}`, remedy)], clocks: [] }
  } finally {
    await client?.end().catch(() => {})
  }
}

const lowBytes = 2 ** 30
const criticalBytes = 100 * 2 ** 20

/** Only for a store on this machine's disk. */
export async function checkDisk({ store, dataDir }: StoreSection): Promise<readonly DoctorFinding[]> {
  if (!store.url.startsWith('sqlite:')) return []
  const place = await nearestExisting(resolve(sqliteFile({ store: store.url, dataDir })))
  const { bavail, bsize } = await statfs(place)
  return [diskFinding(bavail * bsize, place)]
}

export function diskFinding(freeBytes: number, place: string): DoctorFinding {
  const text = `${formatSize(freeBytes)} free at ${place}`
  const remedy = 'Free space on this disk, or move the data directory with --data.'
  if (freeBytes < criticalBytes) return failed('disk', text, remedy)
  return freeBytes < lowBytes ? warning('disk', text, remedy) : ok('disk', text)
}
