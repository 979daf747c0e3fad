/** The result of a dry run: the chosen agent and rule, the other candidates, and why the other rules did not match. */
import type { Agent, Route, RouteDecision } from '../../api/admin.ts'
import { StatusBadge } from '../../components/status/task-state.tsx'
import { AgentName } from './rule-row.tsx'
import { routeName, weightShares } from './rule-text.ts'

export interface DecisionProps {
  readonly agent: string
  readonly decision: RouteDecision
  readonly rules: readonly Route[]
  readonly agents: readonly Agent[]
}

const candidateDisplays = {
  up: { tone: 'done', shape: '●', word: 'up' },
  slow: { tone: 'waiting', shape: '◐', word: 'slow' },
  down: { tone: 'failed', shape: '✕', word: 'down' },
  over: { tone: 'ended', shape: '⊘', word: 'cannot be asked' },
} as const

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth']

export function Decision({ agent, decision, rules, agents }: DecisionProps) {
  const { to, why, candidates, considered } = decision
  const rule = rules.find(({ route }) => route === decision.route)
  const [first] = to
  return (
    <div class="stack routes-decision">
      <p class="routes-answer">
        {first === undefined ? (
          'No agent can do it now'
        ) : rule === undefined ? (
          <>
            <strong>{agent}</strong> does it itself
          </>
        ) : (
          <>
            Goes to <strong>{first}</strong> by “{routeName(rule)}”
          </>
        )}
      </p>
      <p class="soft">
        {why === 'it fits' ? 'It is the first rule that fits.' : sentence(why)}
        {rule !== undefined && rule.to.length > 1 && ' Which of several comes first is drawn by weight each time.'}
      </p>
      {candidates.length > 0 && rule !== undefined && <Candidates rule={rule} decision={decision} agents={agents} />}
      {considered.length > 0 && (
        <section>
          <h3>Rules looked at, in this order</h3>
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
      <caption class="unseen">Who may do it</caption>
      <thead>
        <tr>
          <th>Agent</th>
          <th>Share</th>
          <th>State</th>
          <th>Asked</th>
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
              <td>{share === undefined ? 'stands in' : `${share.percent} %`}</td>
              <td>
                <StatusBadge {...candidateDisplays[state]} />
                {why !== undefined && <p class="faint">{why}</p>}
                {why === undefined && <HealthNote agent={agents.find(({ name }) => name === agent)} />}
              </td>
              <td>{place < 0 ? 'not' : (ordinals[place] ?? 'later')}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function HealthNote({ agent }: { readonly agent: Agent | undefined }) {
  const { firstWordMs } = agent?.health ?? {}
  return firstWordMs === undefined ? null : <p class="faint">first word after {Math.round(firstWordMs)} ms</p>
}

/** Capitalised, with a full stop. */
function sentence(text: string): string {
  return `${(text[0] ?? '').toUpperCase()}${text.slice(1)}.`
}
