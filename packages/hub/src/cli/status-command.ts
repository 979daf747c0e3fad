/** `parley status`: the health of a running hub. */
import { formatSize } from '@parley/cli/internal'
import type { HubHealth } from '../admin/routes/health.ts'
import { hubConnection, requestAdmin } from './admin-request.ts'
import { exitCodes, type Flags, type Terminal } from './command.ts'
import { printResult, styled } from './output.ts'

export async function showStatus(flags: Flags, terminal: Terminal): Promise<number> {
  const health = await requestAdmin<HubHealth>(flags, terminal, 'GET', '/admin/health')
  const { url } = await hubConnection(flags, terminal)
  printResult(flags, terminal, { url, ...health }, () => statusLines(url, health, terminal))
  return health.status === 'ok' ? 0 : exitCodes.failure
}

function statusLines(url: string, health: HubHealth, terminal: Terminal): readonly string[] {
  const {
    status,
    version,
    node,
    uptimeMs,
    store,
    configRejection,
    agents,
    tasks,
    streams,
    push,
    readers,
    auditExports,
  } = health
  const rows: readonly (readonly [string, string])[] = [
    ['Hub', `${url}, Parley ${version}, Node ${node}, up ${durationText(uptimeMs)}`],
    ['Status', styled(terminal, status === 'ok' ? 'green' : 'yellow', status)],
    ['Store', `${store.name}, ${store.isReady ? `ready (${store.latencyMs} ms)` : (store.trouble ?? 'not ready')}`],
    ...(configRejection === undefined
      ? []
      : [['Config', `not applied since ${configRejection.since}: ${configRejection.problem}`] as const]),
    ...storageRows(health),
    ['Agents', agentsText(agents)],
    // A hub of an earlier version does not send them.
    ...Object.entries(agents.recentErrors ?? {}).map(([name, failure]) => ['Errors', `${name}: ${failure}`] as const),
    ['Tasks', tasksText(tasks)],
    ['Streams', `${streams} open${unsentText(readers)}`],
    ['Webhooks', push.isOn ? `enabled, ${push.dead} failed${backlogText(push)}` : 'disabled'],
    ['Readers', readersText(readers.feed)],
    ...auditExports.map(({ name, lagMs, trouble }): readonly [string, string] => [
      'Audit',
      `export ${name} ${lagMs === 0 ? 'is up to date' : `is ${durationText(lagMs)} behind`}${trouble === undefined ? '' : `: ${trouble}`}`,
    ]),
  ]
  const known = rows.filter(([name]) => store.isReady || !countedRows.has(name))
  return known.map(([name, text]) => `${name.padEnd(9)}${text}`)
}

/** Without its store, the hub sends them empty: no agents, no tasks. */
const countedRows: ReadonlySet<string> = new Set(['Agents', 'Tasks', 'Webhooks', 'Readers'])

function storageRows({ storage }: HubHealth): readonly (readonly [string, string])[] {
  if (storage === undefined) return []
  const { bytes, walBytes, reusableBytes, diskFreeBytes, growth, oldestTask, oldestUnfinished, lastBackup } = storage
  const now = Date.parse(storage.readAt)
  const age = (time: string): string => `${durationText(Math.max(0, now - Date.parse(time)))} ago`
  const size = [
    bytes === undefined ? 'in memory' : formatSize(bytes + (walBytes ?? 0)),
    ...(reusableBytes === undefined || reusableBytes === 0 ? [] : [`${formatSize(reusableBytes)} reusable`]),
    ...(diskFreeBytes === undefined ? [] : [`${formatSize(diskFreeBytes)} free on its disk`]),
  ]
  const grown = [
    ...(growth.hour === undefined ? [] : [`${signedBytes(growth.hour.bytes)} in the last hour`]),
    ...(growth.day === undefined ? [] : [`${signedBytes(growth.day.bytes)} in the last day`]),
  ]
  const oldest = [
    ...(oldestTask === undefined ? [] : [`created ${age(oldestTask)}`]),
    ...(oldestUnfinished === undefined ? [] : [`oldest unfinished since ${age(oldestUnfinished)}`]),
  ]
  return [
    ['Size', size.join(', ')],
    ['Growth', grown.length === 0 ? 'not known yet' : grown.join(', ')],
    ['Oldest', oldest.length === 0 ? 'no tasks' : oldest.join(', ')],
    ['Backup', lastBackup === undefined ? 'none known' : age(lastBackup)],
  ]
}

function unsentText({ unsentBytes, paused }: HubHealth['readers']): string {
  const waiting = paused === 0 ? '' : `, ${paused} clients wait`
  return unsentBytes === 0 ? waiting : `, ${formatSize(unsentBytes)} unsent${waiting}`
}

function backlogText({ behind, due, oldestUndelivered }: HubHealth['push']): string {
  if (behind === 0) return ''
  const since = oldestUndelivered === undefined ? '' : `, oldest event since ${oldestUndelivered}`
  return `, ${behind} behind (${due} due)${since}`
}

function readersText(feed: HubHealth['readers']['feed']): string {
  const behind = feed.filter((reader) => reader.behind > 0)
  if (behind.length === 0) return 'up to date'
  return behind.map((reader) => `${reader.name} is ${reader.behind} appends behind`).join(', ')
}

// A hub of an earlier version does not send the causes and `up`, and sends other agents as `failing` and none as `recentErrors`.
function agentsText({
  all,
  up,
  down,
  troubles,
  failing,
  recentErrors,
}: Partial<Pick<HubHealth['agents'], 'up'>> & HubHealth['agents']): string {
  const tooMany = recentErrors === undefined ? {} : failing
  const rest = all - down.length - Object.keys(tooMany).length
  const shown = up ?? rest
  const others = rest > shown ? `; ${rest - shown} slow or blocked` : ''
  const named = (word: string, names: readonly string[], why: Readonly<Record<string, string>> | undefined): string =>
    names.length === 0
      ? ''
      : `; ${word}: ${names.map((name) => (why?.[name] ? `${name} (${why[name]})` : name)).join(', ')}`
  return `${shown} of ${all} up${others}${named('failing', Object.keys(tooMany), tooMany)}${named('down', down, troubles)}`
}

function tasksText(tasks: Readonly<Record<string, number>>): string {
  const counts = Object.entries(tasks).filter(([, count]) => count > 0)
  return counts.length === 0 ? 'none' : counts.map(([state, count]) => `${count} ${stateName(state)}`).join(', ')
}

/** `TASK_STATE_INPUT_REQUIRED` → `input required` */
function stateName(state: string): string {
  return state
    .replace(/^TASK_STATE_/, '')
    .replaceAll('_', ' ')
    .toLowerCase()
}

function signedBytes(bytes: number): string {
  return `${bytes < 0 ? '−' : '+'}${formatSize(Math.abs(bytes))}`
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

function durationText(ms: number): string {
  const [unit, size] = units.find(([, one]) => ms >= one) ?? ['ms', 1]
  return `${Math.floor(ms / size)} ${unit}`
}
