/** The numbers of now: agents that are up, and tasks that work, wait or failed. Each is a link to what it counts. */
import type { Agent } from '../../api/admin.ts'
import { agentStatus } from '../../agent/agent-status.ts'
import { formatCount } from '../../components/format.ts'
import type { StatRange } from '../../components/stats/stat-range.ts'
import { now } from '../../api/resource.ts'
import { rangeStart, tasksHref } from './overview-filters.ts'
import { rangeNames } from '../../components/stats/stat-range.ts'

export interface CurrentNumbersProps {
  readonly agents: readonly Agent[] | undefined
  readonly counts: { readonly states: Readonly<Record<string, number>>; readonly waiting: number } | undefined
  /** Failed tasks of the range. */
  readonly failed: number | undefined
  readonly range: StatRange
  readonly agent: string
}

export function CurrentNumbers({ agents, counts, failed, range, agent }: CurrentNumbersProps) {
  const shown = agents?.filter(({ name }) => agent === '' || name === agent)
  const up = shown?.filter((one) => agentStatus(one).word === 'up').length ?? 0
  const all = shown?.length ?? 0
  const load = (kind: 'working' | 'waiting'): number | undefined => {
    if (agent !== '') return shown?.reduce((sum, one) => sum + one.load[kind], 0)
    if (counts === undefined || kind === 'waiting') return counts?.waiting
    return (counts.states['TASK_STATE_SUBMITTED'] ?? 0) + (counts.states['TASK_STATE_WORKING'] ?? 0)
  }
  const failedFilter = { agent, state: 'TASK_STATE_FAILED', since: rangeStart(range, now.peek()) }
  return (
    <ul class="overview-numbers" aria-label="Now">
      <Tile
        href={agent === '' ? '/agents' : `/agents/${encodeURIComponent(agent)}`}
        value={agents === undefined ? undefined : `${up} / ${all}`}
        word="agents up"
        isTrouble={up < all}
      />
      <Tile
        href={tasksHref({ agent, state: 'TASK_STATE_SUBMITTED,TASK_STATE_WORKING' })}
        value={textOf(load('working'))}
        word="tasks working"
      />
      <Tile
        href={tasksHref({ agent, state: 'TASK_STATE_INPUT_REQUIRED,TASK_STATE_AUTH_REQUIRED', level: 'top' })}
        value={textOf(load('waiting'))}
        word="tasks waiting for input"
      />
      <Tile
        href={tasksHref(failedFilter)}
        value={textOf(failed)}
        word={`tasks failed in ${rangeNames[range]}`}
        isTrouble={(failed ?? 0) > 0}
      />
    </ul>
  )
}

function textOf(count: number | undefined): string | undefined {
  return count === undefined ? undefined : formatCount(count)
}

interface TileProps {
  readonly href: string
  /** `undefined` while it loads. */
  readonly value: string | undefined
  readonly word: string
  readonly isTrouble?: boolean
}

function Tile({ href, value, word, isTrouble = false }: TileProps) {
  return (
    <li>
      <a class={`panel stack-tight overview-tile ${isTrouble ? 'trouble-tile' : ''}`} href={href}>
        <span class={value === undefined ? 'overview-value overview-loading' : 'overview-value'}>{value}</span>
        <span class="overview-word">{word}</span>
      </a>
    </li>
  )
}
