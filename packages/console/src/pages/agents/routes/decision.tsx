/** The result of a dry run: the chosen agent and rule, the other candidates, and why the other rules did not match. */
import type { Agent, Route, RouteDecision } from '../../../api/admin.ts'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { AgentName } from './rule-row.tsx'
import { routeName, weightShares } from './rule-text.ts'
import { routesStrings } from './strings.ts'

export interface DecisionProps {
  readonly agent: string
  readonly decision: RouteDecision
  readonly rules: readonly Route[]
  readonly agents: readonly Agent[]
}

const words = routesStrings.decision

const candidateDisplays = {
  up: { tone: 'done', shape: '●', word: words.states.up },
  slow: { tone: 'waiting', shape: '◐', word: words.states.slow },
  down: { tone: 'failed', shape: '✕', word: words.states.down },
  over: { tone: 'ended', shape: '⊘', word: words.states.over },
} as const

export function Decision({ agent, decision, rules, agents }: DecisionProps) {
  const { to, candidates, considered } = decision
  const rule = rules.find(({ route }) => route === decision.route)
  const [first] = to
  return (
    <div class="stack routes-decision">
      <p class="routes-answer">
        {first === undefined ? (
          words.none
        ) : rule === undefined ? (
          <>
            <strong>{agent}</strong> {words.self}
          </>
        ) : (
          <>
            {words.to} <strong>{first}</strong> {words.by(routeName(rule))}
          </>
        )}
      </p>
      <p class="soft">
        {reasonText(decision, rule)}
        {rule !== undefined && rule.to.length > 1 && words.weighted}
      </p>
      {candidates.length > 0 && rule !== undefined && <Candidates rule={rule} decision={decision} agents={agents} />}
      {considered.length > 0 && (
        <section>
          <h3>{words.considered}</h3>
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
      <caption class="unseen">{words.candidates}</caption>
      <thead>
        <tr>
          <th>{words.agent}</th>
          <th>{words.share}</th>
          <th>{words.state}</th>
          <th>{words.order}</th>
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
              <td>{share === undefined ? words.fallback : words.percent(share.percent)}</td>
              <td>
                <StatusBadge {...candidateDisplays[state]} />
                {why !== undefined && <p class="faint">{why}</p>}
                {why === undefined && <HealthNote agent={agents.find(({ name }) => name === agent)} />}
              </td>
              <td>{place < 0 ? words.notUsed : words.ordinal(place)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function HealthNote({ agent }: { readonly agent: Agent | undefined }) {
  const { firstWordMs } = agent?.health ?? {}
  return firstWordMs === undefined ? null : <p class="faint">{words.firstToken(Math.round(firstWordMs))}</p>
}

/** The table has the reasons for a fallback. */
function reasonText({ to: [first], why }: RouteDecision, rule: Route | undefined): string {
  if (rule === undefined || first === undefined) return sentence(why)
  return rule.to.some(({ agent }) => agent === first) ? words.first : words.usesFallback
}

/** Capitalised, with a full stop. */
function sentence(text: string): string {
  return `${(text[0] ?? '').toUpperCase()}${text.slice(1)}.`
}
