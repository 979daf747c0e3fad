/** One routing rule: source agent, conditions, targets with their health, and fallbacks. */
import type { Agent, Route, RouteDecision } from '../../../api/admin.ts'
import { agentStatus } from '../../../agent/agent-status.ts'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { describeConditions, routeName, weightShares } from './rule-text.ts'

export interface RuleRowProps {
  readonly rule: Route
  readonly agents: readonly Agent[]
  /** Link to a dry run of a message that the rule would match. */
  readonly tryHref: string
  /** What the dry run reported about this rule. */
  readonly considered: RouteDecision['considered'][number] | undefined
  readonly isTaken: boolean
}

export function RuleRow({ rule, agents, tryHref, considered, isTaken }: RuleRowProps) {
  const { from, when, to, priority, fallback } = rule
  const conditions = describeConditions(when)
  const shares = weightShares(to)
  return (
    <li class={isTaken ? 'routes-rule taken' : 'routes-rule'} aria-current={isTaken ? 'true' : undefined}>
      <div class="row routes-rule-head">
        <h2 class="cut">{routeName(rule)}</h2>
        {priority !== 0 && <span class="faint">Priority {priority}</span>}
        <span class="grow" />
        {considered !== undefined && <DryRunResult considered={considered} isTaken={isTaken} />}
        <a
          class="button small"
          href={tryHref}
          data-row={rule.route}
          aria-label={`Test ${routeName(rule)}`}
          title="Fill in a message that matches this rule"
        >
          Test
        </a>
      </div>
      <p class="routes-sentence">
        <span class="routes-word">From</span> <AgentNames names={from} agents={agents} />
        {conditions.length === 0 ? (
          <span class="routes-word"> always</span>
        ) : (
          <>
            <span class="routes-word"> when</span> {conditions.join(', and ')}
          </>
        )}
      </p>
      <p class="routes-sentence">
        <span class="routes-word">to</span>{' '}
        {shares.map(({ agent, percent, weight }) => (
          <span key={agent} class="routes-target">
            <AgentName name={agent} agents={agents} />
            {shares.length > 1 && (
              <span class="faint" title={`Weight ${weight}`}>
                {percent} %
              </span>
            )}
          </span>
        ))}
        {fallback.length > 0 && (
          <>
            <span class="routes-word">fallback</span> <AgentNames names={fallback} agents={agents} />
          </>
        )}
      </p>
    </li>
  )
}

function DryRunResult({
  considered,
  isTaken,
}: Pick<RuleRowProps, 'isTaken'> & Pick<Required<RuleRowProps>, 'considered'>) {
  const { fits = false, why = '' } = considered ?? {}
  if (isTaken) return <StatusBadge tone="done" shape="●" word="Selected" />
  return (
    <span title={why}>
      <StatusBadge tone="ended" shape={fits ? '○' : '–'} word={fits ? 'Matches' : 'No match'} />
    </span>
  )
}

function AgentNames({ names, agents }: { readonly names: readonly string[]; readonly agents: readonly Agent[] }) {
  return (
    <>
      {names.map((name) => (
        <span key={name} class="routes-target">
          <AgentName name={name} agents={agents} />
        </span>
      ))}
    </>
  )
}

/** Shows the health of the agent if it is not up. */
export function AgentName({ name, agents }: { readonly name: string; readonly agents: readonly Agent[] }) {
  const agent = agents.find((one) => one.name === name)
  const look = agent === undefined ? undefined : agentStatus(agent)
  return (
    <>
      <a href={`/agents/${encodeURIComponent(name)}`}>{name}</a>
      {look !== undefined && look.word !== 'up' && (
        <span class={`routes-health ${look.tone}`} title={look.why}>
          {look.shape} {look.text}
        </span>
      )}
    </>
  )
}
