/** A task, or all tasks of an agent: name, status, duration and usage. Links to the task. */
import { withQuery } from '../app/page-route.ts'
import { navigate } from '../app/router.ts'
import { taskStateDisplay, type StatusDisplay } from '../components/status/task-state.tsx'
import { formatCost, formatDuration, formatCompact } from '../components/format.ts'
import type { DelegationNode } from './delegation.ts'
import type { Point } from './graph-layout.ts'
import { traceStrings } from './strings.ts'

const { graph: strings } = traceStrings

export const boxWidth = 196
/** The number of letters that fit. */
const longestName = 22

export interface NodeBoxProps {
  readonly node: DelegationNode
  readonly at: Point
  readonly height: number
  onFocus(): void
}

/** Smaller if no node has a third line. */
export function boxHeight(nodes: readonly DelegationNode[]): number {
  return nodes.some((node) => usageText(node) !== '' || node.errors > 0) ? 64 : 50
}

export function NodeBox({ node, at, height, onFocus }: NodeBoxProps) {
  const { agent, taskIds, errors } = node
  const href = nodeHref(node)
  const { tone, shape, word } = nodeStatus(node)
  const used = usageText(node)
  const drawing = (
    <>
      <rect class="delegation-box" width={boxWidth} height={height} rx="6" />
      <rect class={`delegation-strip ${tone}`} x="0.5" y="10" width="3" height={height - 20} rx="1.5" />
      <text class="delegation-name" x="14" y="23">
        {agent.length > longestName && <title>{agent}</title>}
        {truncateName(agent)}
      </text>
      {taskIds.length > 1 && (
        <text class="delegation-many" x={boxWidth - 12} y="23">
          ×{taskIds.length}
        </text>
      )}
      <text class="delegation-word" x="14" y="40">
        <tspan class={tone}>
          {shape} {word}
        </tspan>
        {node.kind === 'task' && ` · ${formatDuration(node.durationMs)}`}
      </text>
      <text class="delegation-used" x="14" y="56">
        {used}
        {errors > 0 && (
          <tspan class="failed">
            {used === '' ? '' : ' · '}
            {strings.failed(errors)}
          </tspan>
        )}
      </text>
    </>
  )
  const transform = `translate(${at.x} ${at.y})`
  if (href === undefined) {
    return (
      <g class={`delegation-node ${node.kind}`} transform={transform}>
        {drawing}
      </g>
    )
  }
  return (
    <g transform={transform}>
      <a
        class={`delegation-node ${node.kind}`}
        href={href}
        onFocus={onFocus}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
          event.preventDefault()
          navigate(href)
        }}
      >
        {drawing}
      </a>
    </g>
  )
}

/** Links to its task; for an agent with several, to the view with one box per task. Agents elsewhere have no link. */
function nodeHref({ taskIds }: DelegationNode): string | undefined {
  const [first] = taskIds
  if (taskIds.length > 1) return withQuery(new URL(location.href), { group: '' }).href
  return first === undefined ? undefined : `/tasks/${encodeURIComponent(first)}`
}

function nodeStatus({ kind, state }: DelegationNode): StatusDisplay {
  if (kind === 'elsewhere') return { tone: 'ended', shape: '↗', word: strings.elsewhere }
  if (kind === 'unseen') return { tone: 'ended', shape: '○', word: strings.unseen }
  return taskStateDisplay(state ?? '')
}

function usageText({ tokens, cost: paid }: DelegationNode): string {
  return [tokens > 0 ? strings.tokens(formatCompact(tokens)) : '', paid === undefined ? '' : formatCost(paid)]
    .filter(Boolean)
    .join(' · ')
}

function truncateName(name: string): string {
  return name.length <= longestName ? name : `${name.slice(0, longestName - 1)}…`
}
