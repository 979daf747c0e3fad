/** Version, theme, shortcuts and documentation. */
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { session } from '../../../api/session-state.ts'
import { ShortcutList } from '../../../app/shortcut-help.tsx'
import { chooseTheme, theme, type Theme } from '../../../app/theme.ts'
import { CodeBlock } from '../../../components/content/code-block.tsx'
import { CopyableId } from '../../../components/content/copy-button.tsx'
import { Fact, FactList } from '../../../components/layout/page-head.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { RelativeTime, formatSecond } from '../../../components/time.tsx'
import { ErrorNotice } from '../../../components/status/error-notice.tsx'
import { aboutStrings as strings } from './strings.ts'
import './about.css'

const themes: readonly (readonly [Theme, string])[] = [
  ['system', strings.theme.system],
  ['light', strings.theme.light],
  ['dark', strings.theme.dark],
]

const exampleCommands = (origin: string): readonly (readonly [label: string, text: string])[] => [
  [strings.programs.help, strings.programs.helpCommand],
  [strings.programs.check, strings.programs.checkCommand],
  [strings.programs.document, `curl -H "Authorization: Bearer $PARLEY_ADMIN_KEY" ${origin}/admin/openapi.json`],
]

export function AboutView() {
  const health = useResource(
    'about',
    (signal) => callAdmin('getHealth', { signal }),
    ({ type }) => type === 'config',
  )
  const found = health.value.value
  const known = session.value
  return (
    <div class="scroll about">
      {health.problem.value !== undefined && <ErrorNotice reason={health.problem.value} retry={health.reload} />}
      <section aria-labelledby="about-hub">
        <h2 id="about-hub">{strings.hub.title}</h2>
        <div class="panel panel-body">
          <FactList>
            <Fact name={strings.hub.version}>
              {found === undefined ? strings.loading : strings.hub.versionValue(found.version)}
            </Fact>
            <Fact name={strings.hub.node}>{found?.node ?? strings.loading}</Fact>
            <Fact name={strings.hub.protocols}>{found?.protocols.join(', ') ?? strings.loading}</Fact>
            <Fact name={strings.hub.instance}>
              {found === undefined ? strings.loading : <CopyableId id={found.instance} what={strings.hub.instanceId} />}
            </Fact>
            <Fact name={strings.hub.started}>
              {found === undefined ? strings.loading : <RelativeTime at={found.startedAt} />}
            </Fact>
            <Fact name={strings.hub.address}>{location.origin}</Fact>
            {typeof known === 'object' && (
              <>
                <Fact name={strings.hub.user}>{known.subject}</Fact>
                {known.expiresAt !== undefined && <Fact name={strings.hub.until}>{formatSecond(known.expiresAt)}</Fact>}
              </>
            )}
          </FactList>
        </div>
      </section>
      <section aria-labelledby="about-look">
        <h2 id="about-look">{strings.theme.title}</h2>
        <SegmentedControl label={strings.theme.title} value={theme.value} options={themes} onChange={chooseTheme} />
      </section>
      <section aria-labelledby="about-docs">
        <h2 id="about-docs">{strings.programs.title}</h2>
        <p class="soft">
          {strings.programs.hint}{' '}
          <a href="/admin/openapi.json" target="_blank">
            {strings.programs.openApi}
          </a>
        </p>
        <div class="stack">
          {exampleCommands(location.origin).map(([label, text]) => (
            <CodeBlock key={label} text={text} label={label} />
          ))}
        </div>
      </section>
      <section aria-labelledby="about-keys">
        <h2 id="about-keys">{strings.shortcuts.title}</h2>
        <p class="soft">
          {strings.shortcuts.before} <kbd>?</kbd> {strings.shortcuts.after}
        </p>
        <ShortcutList />
      </section>
    </div>
  )
}
