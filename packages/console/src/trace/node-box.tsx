/** A task, or all tasks of an agent: who, how it stands, how long it took and what it used. A link to the task. */
import { withQuery } from '../app/address.ts'
import { go } from '../app/router.ts'
import { lookOf } from '../parts/state.tsx'
import { cost, duration, short } from '../parts/words.ts'
import type { DelegationNode } from './delegation.ts'
import type { Point } from './layered.ts'

export const boxWidth = 196
/** As many letters as have room. */
const longestName = 22

export interface NodeBoxProps {
  readonly node: DelegationNode
  readonly at: Point
  readonly height: number
  onFocus(): void
}

/** Lower where none of them has a third line. */
export function boxHeight(nodes: readonly DelegationNode[]): number {
  return nodes.some((node) => usedWords(node) !== '' || node.errors > 0) ? 64 : 50
}

export function NodeBox({ node, at, height, onFocus }: NodeBoxProps) {
  const { agent, taskIds, errors } = node
  const href = hrefOf(node)
  const { tone, shape, word } = standing(node)
  const used = usedWords(node)
  const drawing = (
    <>
      <rect class="delegation-box" width={boxWidth} height={height} rx="6" />
      <rect class={`delegation-strip ${tone}`} x="0.5" y="10" width="3" height={height - 20} rx="1.5" />
      <text class="delegation-name" x="14" y="23">
        {agent.length > longestName && <title>{agent}</title>}
        {cut(agent)}
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
        {node.kind === 'task' && ` · ${duration(node.durationMs)}`}
      </text>
      <text class="delegation-used" x="14" y="56">
        {used}
        {errors > 0 && (
          <tspan class="failed">
            {used === '' ? '' : ' · '}✕ {errors} failed
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
          go(href)
        }}
      >
        {drawing}
      </a>
    </g>
  )
}

/** To its task; of an agent with several, to each of them as a box of its own. Of those elsewhere there is none to be seen. */
function hrefOf({ taskIds }: DelegationNode): string | undefined {
  const [first] = taskIds
  if (taskIds.length > 1) return withQuery(new URL(location.href), { group: '' }).href
  return first === undefined ? undefined : `/tasks/${encodeURIComponent(first)}`
}

function standing({ kind, state }: DelegationNode): { tone: string; shape: string; word: string } {
  if (kind === 'elsewhere') return { tone: 'ended', shape: '↗', word: 'elsewhere' }
  if (kind === 'unseen') return { tone: 'ended', shape: '○', word: 'not part of this trace' }
  return lookOf(state ?? '')
}

function usedWords({ tokens, cost: paid }: DelegationNode): string {
  return [tokens > 0 ? `${short(tokens)} tokens` : '', paid === undefined ? '' : cost(paid)].filter(Boolean).join(' · ')
}

function cut(name: string): string {
  return name.length <= longestName ? name : `${name.slice(0, longestName - 1)}…`
}
