/** The routing rules, and a form that shows which of them a message would match. */
import { useRef } from 'preact/hooks'
import { useAgentList } from '../../api/agents.ts'
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { usePaletteActions } from '../../app/palette-state.ts'
import { navigate, query, setQuery } from '../../app/router.ts'
import { CodeBlock } from '../../components/content/code-block.tsx'
import { useListShortcuts } from '../../components/list/list-shortcuts.ts'
import { SearchField } from '../../components/filters/filter-fields.tsx'
import { PageHead } from '../../components/layout/page-head.tsx'
import { EmptyState, LoadState } from '../../components/status/error-notice.tsx'
import { DryRunBox } from './dry-run-box.tsx'
import { decideRouteBody, dryRunFromQuery, dryRunHref, metadataError, emptyDryRun, dryRunForRule } from './dry-run.ts'
import { RuleRow } from './rule-row.tsx'
import { exampleRoutesYaml, sortRoutes, matchesRoute, routeName } from './rule-text.ts'
import { routesStrings } from './strings.ts'
import './routes-page.css'

const words = routesStrings

export function RoutesPage() {
  const frame = useRef<HTMLDivElement>(null)
  const routes = useResource(
    'routes',
    (signal) => callAdmin('listRoutes', { signal }),
    ({ type }) => type === 'config',
  )
  const agents = useAgentList()
  const run = dryRunFromQuery(query.value)
  const isAsked = run.agent !== '' && metadataError(run.metadata) === undefined
  const decision = useResource(
    JSON.stringify(run),
    async (signal) => (isAsked ? callAdmin('decideRoute', { body: decideRouteBody(run), signal }) : undefined),
    ({ type }) => type === 'agent' || type === 'config',
  )
  const find = query.value.get('find') ?? ''
  const all = sortRoutes(routes.value.value?.routes ?? [])
  const shown = find === '' ? all : all.filter((rule) => matchesRoute(rule, find))
  const known = agents.value.value ?? []
  useListShortcuts({
    items: shown,
    keyOf: ({ route }) => String(route),
    noun: words.item,
    at: -1,
    frame,
    idOf: (rule) => routeName(rule),
    open: (rule) => navigate(dryRunHref(dryRunForRule(rule), { find })),
    close: run.agent === '' ? undefined : () => navigate(dryRunHref(emptyDryRun, { find })),
  })
  usePaletteActions([{ title: words.editAction, run: () => navigate('/settings/config') }])
  const isEmpty = routes.value.value !== undefined && all.length === 0

  return (
    <div ref={frame} class="fill routes">
      <PageHead title={words.title}>
        <a class="button small" href="/settings/config">
          {words.edit}
        </a>
      </PageHead>
      <LoadState of={routes} what={words.loading} />
      {isEmpty && <NoRoutes agents={known.map(({ name }) => name)} />}
      {all.length > 0 && (
        <div class="routes-body">
          <section class="routes-rules" aria-label={words.list.label}>
            <search class="bar toolbar routes-toolbar" aria-label={words.list.filter}>
              <SearchField
                label={words.list.filter}
                placeholder={words.list.placeholder}
                value={find}
                onChange={(text) => setQuery({ find: text })}
              />
              <span class="faint">{words.list.count(shown.length, all.length)}</span>
            </search>
            <ol>
              {shown.map((rule) => (
                <RuleRow
                  key={rule.route}
                  rule={rule}
                  agents={known}
                  tryHref={dryRunHref(dryRunForRule(rule), { find })}
                  considered={decision.value.value?.considered.find(({ route }) => route === rule.route)}
                  isTaken={decision.value.value?.route === rule.route}
                />
              ))}
            </ol>
            {shown.length === 0 && <p class="routes-none">{words.list.noMatch}</p>}
          </section>
          <DryRunBox run={run} decision={decision} rules={all} agents={known} find={find} />
        </div>
      )}
    </div>
  )
}

function NoRoutes({ agents }: { readonly agents: readonly string[] }) {
  const example = exampleRoutesYaml(agents)
  return (
    <EmptyState title={words.empty.title}>
      <p>{words.empty.hint}</p>
      {example !== undefined && <CodeBlock text={example} label={words.empty.example} />}
      <a class="button" href="/settings/config">
        {words.empty.open}
      </a>
    </EmptyState>
  )
}
