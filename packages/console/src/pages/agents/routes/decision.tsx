/** The result of a dry run: the chosen agent and rule, the other candidates, and why the other rules did not match. */
import type { Agent, Route, RouteDecision } from '../../../api/admin.ts'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { AgentName } from './rule-row.tsx'
import { routeName, weightShares } from './rule-text.ts'

export interface DecisionProps {
  readonly agent: string
  readonly decision: RouteDecision
  readonly rules: readonly Route[]
  readonly agents: readonly Agent[]
}

const candidateDisplays = {
  up: { tone: 'done', shape: '●', word: 'Up' },
  slow: { tone: 'waiting', shape: '◐', word: 'Slow' },
  down: { tone: 'failed', shape: '✕', word: 'Down' },
  over: { tone: 'ended', shape: '⊘', word: 'Not available' },
} as const

export function Decision({ agent, decision, rules, agents }: DecisionProps) {
  const { to, candidates, considered } = decision
  const rule = rules.find(({ route }) => route === decision.route)
  const [first] = to
  return (
    <div class="stack routes-decision">
      <p class="routes-answer">
        {first === undefined ? (
          'No agent is available'
        ) : rule === undefined ? (
          <>
            <strong>{agent}</strong> handles it itself
          </>
        ) : (
          <>
            Routed to <strong>{first}</strong> by “{routeName(rule)}”
          </>
        )}
      </p>
      <p class="soft">
        {reasonText(decision, rule)}
        {rule !== undefined && rule.to.length > 1 && ' With several agents, each message is assigned by weight.'}
      </p>
      {candidates.length > 0 && rule !== undefined && <Candidates rule={rule} decision={decision} agents={agents} />}
      {considered.length > 0 && (
        <section>
          <h3>Rules in order of evaluation</h3>
          <ol class="routes-considered">
            {considered.map((one) => (
              <li key={one.route}>
                <span class={one.fits ? 'routes-fits' : 'routes-misses'} aria-hidden="true">
                  {one.fits ? '●' : '–'}
                </span>
                <span>
                  <strong>{routeName(one)}</strong> <span class="soft">{one.why}</span>
                </span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </div>
  )
}

function Candidates({
  rule,
  decision: { candidates, to },
  agents,
}: {
  readonly rule: Route
  readonly decision: RouteDecision
  readonly agents: readonly Agent[]
}) {
  const shares = weightShares(rule.to)
  return (
    <table class="data routes-candidates">
      <caption class="unseen">Candidates</caption>
      <thead>
        <tr>
          <th>Agent</th>
          <th>Share</th>
          <th>State</th>
          <th>Order</th>
        </tr>
      </thead>
      <tbody>
        {candidates.map(({ agent, state, why }) => {
          const share = shares.find((one) => one.agent === agent)
          const place = to.indexOf(agent)
          return (
            <tr key={agent}>
              <td>
                <AgentName name={agent} agents={[]} />
              </td>
              <td>{share === undefined ? 'Fallback' : `${share.percent} %`}</td>
              <td>
                <StatusBadge {...candidateDisplays[state]} />
                {why !== undefined && <p class="faint">{why}</p>}
                {why === undefined && <HealthNote agent={agents.find(({ name }) => name === agent)} />}
              </td>
              <td>{place < 0 ? '—' : String(place + 1)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function HealthNote({ agent }: { readonly agent: Agent | undefined }) {
  const { firstWordMs } = agent?.health ?? {}
  return firstWordMs === undefined ? null : <p class="faint">First token after {Math.round(firstWordMs)} ms</p>
}

/** The table has the reasons for a fallback. */
function reasonText({ to: [first], why }: RouteDecision, rule: Route | undefined): string {
  if (rule === undefined || first === undefined) return sentence(why)
  return rule.to.some(({ agent }) => agent === first)
    ? 'The first rule that matches.'
    : 'The rule matches, but its agents are down or slow. The fallback gets the message.'
}

/** Capitalised, with a full stop. */
function sentence(text: string): string {
  return `${(text[0] ?? '').toUpperCase()}${text.slice(1)}.`
}
