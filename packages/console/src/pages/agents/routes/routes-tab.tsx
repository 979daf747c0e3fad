/** The rules by which messages for this agent are delegated, and a form that shows which of them a message would match. */
import { useAgentList } from '../../../api/agents.ts'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { query } from '../../../app/router.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { EmptyState, LoadState } from '../../../components/status/error-notice.tsx'
import { DryRunBox } from './dry-run-box.tsx'
import { decideRouteBody, dryRunFromQuery, dryRunHref, metadataError, dryRunForRule } from './dry-run.ts'
import { RuleRow } from './rule-row.tsx'
import { exampleRoutesYaml, sortRoutes } from './rule-text.ts'
import './routes-tab.css'
import { pluralize } from '../../../components/format.ts'

export function RoutesTab({ agent }: { readonly agent: string }) {
  const routes = useResource(
    'routes',
    (signal) => callAdmin('listRoutes', { signal }),
    ({ type }) => type === 'config',
  )
  const agents = useAgentList()
  const run = dryRunFromQuery(agent, query.value)
  const isAsked = run !== undefined && metadataError(run.metadata) === undefined
  const decision = useResource(
    JSON.stringify(run),
    async (signal) => (isAsked ? callAdmin('decideRoute', { body: decideRouteBody(run), signal }) : undefined),
    ({ type }) => type === 'agent' || type === 'config',
  )
  const rules = sortRoutes(routes.value.value?.routes ?? []).filter(({ from }) => from.includes(agent))
  const known = agents.value.value ?? []
  const found = decision.value.value
  return (
    <div class="stack-wider agent-tab">
      <LoadState of={routes} what="the routes" />
      {routes.value.value !== undefined && rules.length === 0 && (
        <NoRoutes agents={[agent, ...known.map(({ name }) => name).filter((name) => name !== agent)]} />
      )}
      {rules.length > 0 && (
        <div class="stack-wider">
          <section aria-label="Rules">
            <p class="row">
              <span class="faint grow">{pluralize(rules.length, 'rule')}, in order of evaluation</span>
              <a class="button small" href="/settings/config">
                Edit configuration
              </a>
            </p>
            <ol>
              {rules.map((rule) => (
                <RuleRow
                  key={rule.route}
                  rule={rule}
                  agents={known}
                  tryHref={dryRunHref(dryRunForRule(agent, rule))}
                  considered={found?.considered.find(({ route }) => route === rule.route)}
                  isTaken={found?.route === rule.route}
                />
              ))}
            </ol>
          </section>
          <DryRunBox agent={agent} run={run} decision={decision} rules={rules} agents={known} />
        </div>
      )}
    </div>
  )
}

function NoRoutes({ agents }: { readonly agents: readonly string[] }) {
  const example = exampleRoutesYaml(agents)
  return (
    <EmptyState title="No routes yet">
      <p>
        A route sends messages for one agent to another: by their content, by caller, or by weight. The caller sees a
        single task, whichever agent does the work.
      </p>
      {example !== undefined && <CodeBlock text={example} label="an example" />}
      <a class="button" href="/settings/config">
        Open configuration
      </a>
    </EmptyState>
  )
}
