/** Version, theme, shortcuts and documentation. */
import { useHealth } from '../../../api/agents.ts'
import { session } from '../../../api/session-state.ts'
import { ShortcutList } from '../../../app/shortcut-help.tsx'
import { chooseTheme, theme, type Theme } from '../../../app/theme.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { CopyableId } from '../../../components/content/copy-button.tsx'
import { Fact, FactList } from '../../../components/layout/page-head.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { RelativeTime, formatSecond } from '../../../components/time.tsx'
import { ErrorNotice } from '../../../components/status/error-notice.tsx'
import './about.css'

const themes: readonly (readonly [Theme, string])[] = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

const exampleCommands = (origin: string): readonly (readonly [label: string, text: string])[] => [
  ['List the commands', 'parley help'],
  ['Check the configuration', 'parley config check'],
  ['Get the OpenAPI document', `curl -H "Authorization: Bearer $PARLEY_ADMIN_KEY" ${origin}/admin/openapi.json`],
]

export function AboutView() {
  const health = useHealth(({ type }) => type === 'config')
  const found = health.value.value
  const known = session.value
  return (
    <div class="scroll stack-wider about">
      {health.problem.value !== undefined && <ErrorNotice reason={health.problem.value} retry={health.reload} />}
      <section aria-labelledby="about-hub">
        <h2 id="about-hub">Hub</h2>
        <div class="panel panel-body">
          <FactList>
            <Fact name="Version">{found === undefined ? '…' : `Parley ${found.version}`}</Fact>
            <Fact name="Node">{found?.node ?? '…'}</Fact>
            <Fact name="A2A versions">{found?.protocols.join(', ') ?? '…'}</Fact>
            <Fact name="Instance">
              {found === undefined ? '…' : <CopyableId id={found.instance} what="instance" />}
            </Fact>
            <Fact name="Started">{found === undefined ? '…' : <RelativeTime at={found.startedAt} />}</Fact>
            <Fact name="Address">{location.origin}</Fact>
            {typeof known === 'object' && (
              <>
                <Fact name="Signed in as">{known.subject}</Fact>
                {known.expiresAt !== undefined && <Fact name="Signed in until">{formatSecond(known.expiresAt)}</Fact>}
              </>
            )}
          </FactList>
        </div>
      </section>
      <section aria-labelledby="about-look">
        <h2 id="about-look">Theme</h2>
        <SegmentedControl label="Theme" value={theme.value} options={themes} onChange={chooseTheme} />
      </section>
      <section aria-labelledby="about-docs">
        <h2 id="about-docs">API and command line</h2>
        <p class="soft">
          The console uses only the admin API: your programs can do everything that you can do here.{' '}
          <a href="/admin/openapi.json" target="_blank">
            OpenAPI 3.1 document
          </a>
        </p>
        <div class="stack">
          {exampleCommands(location.origin).map(([label, text]) => (
            <CodeBlock key={label} text={text} label={label} />
          ))}
        </div>
      </section>
      <section aria-labelledby="about-keys">
        <h2 id="about-keys">Keyboard shortcuts</h2>
        <p class="soft">
          Press <kbd>?</kbd> on any page for the shortcuts of that page.
        </p>
        <ShortcutList />
      </section>
    </div>
  )
}
