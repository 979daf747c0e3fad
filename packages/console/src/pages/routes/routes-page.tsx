/** The rules by which messages are handed on, and a box to ask which of them a message would meet. */
import { useRef } from 'preact/hooks'
import { useAgentList } from '../../api/agents.ts'
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { useActions } from '../../app/palette-state.ts'
import { go, query, setQuery } from '../../app/router.ts'
import { Code } from '../../parts/code.tsx'
import { useListKeys } from '../../parts/list-keys.ts'
import { SearchField } from '../../parts/search-field.tsx'
import { PageHead } from '../../parts/sheet.tsx'
import { Empty, Loading, Trouble } from '../../parts/trouble.tsx'
import { many } from '../../parts/words.ts'
import { DryRunBox } from './dry-run-box.tsx'
import { bodyOf, dryRunIn, hrefOf, mistakeIn, nothing, tryOf } from './dry-run.ts'
import { RuleRow } from './rule-row.tsx'
import { exampleYaml, inOrder, isNamed, nameOf } from './rule-words.ts'
import './routes-page.css'

export function RoutesPage() {
  const frame = useRef<HTMLDivElement>(null)
  const routes = useResource(
    'routes',
    (signal) => call('listRoutes', { signal }),
    ({ type }) => type === 'config',
  )
  const agents = useAgentList()
  const run = dryRunIn(query.value)
  const isAsked = run.agent !== '' && mistakeIn(run.metadata) === undefined
  const decision = useResource(
    JSON.stringify(run),
    async (signal) => (isAsked ? call('decideRoute', { body: bodyOf(run), signal }) : undefined),
    ({ type }) => type === 'agent' || type === 'config',
  )
  const find = query.value.get('find') ?? ''
  const all = inOrder(routes.value.value?.routes ?? [])
  const shown = find === '' ? all : all.filter((rule) => isNamed(rule, find))
  const known = agents.value.value ?? []
  useListKeys({
    count: shown.length,
    at: -1,
    frame,
    idOf: (index) => (shown[index] === undefined ? '' : nameOf(shown[index])),
    open: (index) => shown[index] !== undefined && go(hrefOf(tryOf(shown[index]), { find })),
    close: run.agent === '' ? undefined : () => go(hrefOf(nothing, { find })),
  })
  useActions([{ title: 'Edit the routes', run: () => go('/settings/config') }])
  const { value: problem } = routes.problem
  const isEmpty = routes.value.value !== undefined && all.length === 0

  return (
    <div ref={frame} class="routes">
      <PageHead title="Routes">
        <a class="button small" href="/settings/config">
          Edit in the configuration
        </a>
      </PageHead>
      {problem !== undefined && <Trouble reason={problem} retry={routes.reload} />}
      {routes.value.value === undefined && problem === undefined && <Loading what="the routes" />}
      {isEmpty && <NoRoutes agents={known.map(({ name }) => name)} />}
      {all.length > 0 && (
        <div class="routes-body">
          <section class="routes-rules" aria-label="Rules">
            <search class="toolbar routes-toolbar" aria-label="Filter the rules">
              <SearchField
                label="Filter the rules"
                placeholder="Agent, name or condition"
                value={find}
                onChange={(text) => setQuery({ find: text })}
              />
              <span class="faint">
                {find === '' ? many(all.length, 'rule') : `${shown.length} of ${many(all.length, 'rule')}`}, in the
                order in which they are looked at
              </span>
            </search>
            <ol>
              {shown.map((rule, index) => (
                <RuleRow
                  key={rule.route}
                  rule={rule}
                  index={index}
                  agents={known}
                  tryHref={hrefOf(tryOf(rule), { find })}
                  considered={decision.value.value?.considered.find(({ route }) => route === rule.route)}
                  isTaken={decision.value.value?.route === rule.route}
                />
              ))}
            </ol>
            {shown.length === 0 && <p class="routes-none">No rule fits this filter.</p>}
          </section>
          <DryRunBox run={run} decision={decision} rules={all} agents={known} find={find} />
        </div>
      )}
    </div>
  )
}

function NoRoutes({ agents }: { readonly agents: readonly string[] }) {
  const example = exampleYaml(agents)
  return (
    <Empty title="No routes yet">
      <p>
        A route hands messages for one agent on to another: by what they say, who sends them, or by weight. The caller
        sees one task, whoever does the work.
      </p>
      {example !== undefined && <Code text={example} label="an example" />}
      <a class="button" href="/settings/config">
        Open the configuration
      </a>
    </Empty>
  )
}
