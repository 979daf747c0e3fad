/** `parley status`: the health of a running hub. */
import type { HubHealth } from '../admin/routes/health.ts'
import { hubConnection, hubDetails, hubFlags, requestAdmin } from './admin-request.ts'
import { exitCodes, type Command, type Terminal } from './command.ts'
import { printResult, styled } from './output.ts'

export const statusCommand: Command = {
  name: 'status',
  summary: 'Shows the health of a running hub: store, agents, tasks.',
  details: ['Exits with 1 if the hub is degraded.', ...hubDetails],
  flags: hubFlags,
  async run(flags, terminal) {
    const health = await requestAdmin<HubHealth>(flags, terminal, 'GET', '/admin/health')
    const { url } = await hubConnection(flags, terminal)
    printResult(flags, terminal, { url, ...health }, () => statusLines(url, health, terminal))
    return health.status === 'ok' ? 0 : exitCodes.failure
  },
}

function statusLines(url: string, health: HubHealth, terminal: Terminal): readonly string[] {
  const { status, version, node, uptimeMs, store, agents, tasks, streams, push } = health
  const rows: readonly (readonly [string, string])[] = [
    ['Hub', `${url}, Parley ${version}, Node ${node}, up ${durationText(uptimeMs)}`],
    ['Status', styled(terminal, status === 'ok' ? 'green' : 'yellow', status)],
    ['Store', `${store.name}, ${store.isReady ? `ready (${store.latencyMs} ms)` : (store.trouble ?? 'not ready')}`],
    ['Agents', `${agents.open} of ${agents.all} available${downText(agents.down)}`],
    ['Tasks', tasksText(tasks)],
    ['Streams', `${streams} open`],
    ['Webhooks', push.isOn ? `enabled, ${push.dead} failed` : 'disabled'],
  ]
  return rows.map(([name, text]) => `${name.padEnd(9)}${text}`)
}

function downText(down: readonly string[]): string {
  return down.length === 0 ? '' : `, down: ${down.join(', ')}`
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

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

export function durationText(ms: number): string {
  const [unit, size] = units.find(([, one]) => ms >= one) ?? ['ms', 1]
  return `${Math.floor(ms / size)} ${unit}`
}
