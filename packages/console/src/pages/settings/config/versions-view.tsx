/** What was applied before: by whom, when and why; read, compared with now, and gone back to. */
import { useRef } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import type { AnswerOf } from '../../../api/call.ts'
import { useResource } from '../../../api/resource.ts'
import { tell } from '../../../app/announce.ts'
import { useKeys } from '../../../app/keys.ts'
import { go, query } from '../../../app/router.ts'
import { Confirm } from '../../../parts/confirm.tsx'
import { Copy } from '../../../parts/copy.tsx'
import { DetailHead } from '../../../parts/sheet.tsx'
import { Split } from '../../../parts/split.tsx'
import { Mark } from '../../../parts/state.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { Ago, exact } from '../../../parts/time.tsx'
import { Empty, Loading, Trouble } from '../../../parts/trouble.tsx'
import type { ConfigResource } from './config-resource.ts'
import { DiffView } from './diff-view.tsx'
import { begin, isEdited } from './draft.ts'
import { Editor } from './editor.tsx'
import { EffectsList } from './effects-list.tsx'
import { effectsLine } from './effects.ts'
import { noteApplied } from './last-applied.tsx'

type Version = AnswerOf<'listConfigVersions'>['versions'][number]

const list = '/settings/config/versions'

export function VersionsView({ config, id }: { readonly config: ConfigResource; readonly id: string | undefined }) {
  const loaded = useResource(
    'versions',
    (signal) => call('listConfigVersions', { signal }),
    ({ type }) => type === 'config',
  )
  const versions = loaded.value.value?.versions ?? []
  const at = versions.findIndex((version) => version.id === id)
  const move = (by: number): void => {
    const next = versions[at < 0 ? 0 : Math.min(versions.length - 1, Math.max(0, at + by))]
    if (next !== undefined) go(`${list}/${next.id}${location.search}`, { replace: id !== undefined })
  }
  useKeys([
    { key: 'j', does: 'The next version', run: () => move(1) },
    { key: 'k', does: 'The version before', run: () => move(-1) },
    { key: 'Escape', does: 'Back', run: () => go(id === undefined ? '/settings/config' : list) },
  ])

  if (loaded.problem.value !== undefined) return <Trouble reason={loaded.problem.value} retry={loaded.reload} />
  if (loaded.value.value === undefined) return <Loading what="the versions" />
  if (versions.length === 0) {
    return (
      <Empty title="There are no versions yet">
        <p>Each change that is applied here is kept, with what was there before it: the last fifty.</p>
        <a class="button primary" href="/settings/config">
          Edit the configuration
        </a>
      </Empty>
    )
  }
  return (
    <Split
      name="versions"
      initial={380}
      list={
        <>
          <div class="config-bar">
            <h2 class="grow">Versions</h2>
            <a class="button" href="/settings/config">
              Back to the text
            </a>
          </div>
          <ul class="config-versions" aria-label="Versions">
            {versions.map((version) => (
              <li key={version.id}>
                <VersionRow version={version} isOpen={version.id === id} />
              </li>
            ))}
          </ul>
        </>
      }
      detail={id === undefined ? undefined : <OneVersion key={id} id={id} config={config} />}
    />
  )
}

function VersionRow({ version, isOpen }: { readonly version: Version; readonly isOpen: boolean }) {
  const { id, at, who, note, isCurrent } = version
  return (
    <a class="list-row config-version" href={`${list}/${id}`} aria-current={isOpen ? 'true' : undefined}>
      <span class="grow">
        <span class="cut config-note">{note ?? (who === undefined ? 'Found in the file' : 'Without a note')}</span>
        <span class="faint cut">
          {who ?? 'written by hand'}, <Ago at={at} />
        </span>
      </span>
      {isCurrent && <Mark tone="done" shape="●" word="holds now" />}
    </a>
  )
}

function OneVersion({ id, config }: { readonly id: string; readonly config: ConfigResource }) {
  const field = useRef<HTMLTextAreaElement>(null)
  // Compared with what holds: another one once that is another.
  const loaded = useResource(
    `version ${id}`,
    (signal) => call('getConfigVersion', { params: { id }, signal }),
    ({ type }) => type === 'config',
  )
  const found = loaded.value.value
  if (loaded.problem.value !== undefined) return <Trouble reason={loaded.problem.value} retry={loaded.reload} />
  if (found === undefined) return <Loading what="the version" />

  async function restore(): Promise<void> {
    const { hash } = (await call('getConfig')) ?? {}
    const { effects } = await call('restoreConfig', {
      params: { id },
      body: { note: `Back to the version of ${exact(new Date(found?.at ?? 0)).replace(/\.\d+$/, '')}`, base: hash },
    })
    if (!isEdited.peek()) begin(await call('getConfig'))
    config.reload()
    loaded.reload()
    noteApplied(effects)
    tell(`Restored. ${effectsLine(effects)}`)
  }

  const isText = query.value.get('view') === 'text'
  const { effects, isCurrent } = found
  return (
    <>
      <DetailHead
        title={found.note ?? (found.who === undefined ? 'Found in the file' : 'Without a note')}
        backTo={list}
      >
        <Copy text={found.text} label="Copy the text" />
        <Confirm
          label="Restore"
          question="Go back to this version?"
          danger={false}
          disabled={isCurrent || effects === undefined}
          does={restore}
        >
          {effects !== undefined && <EffectsList effects={effects} />}
          <p>What holds now is kept as a version, too.</p>
        </Confirm>
      </DetailHead>
      <p class="config-about faint">
        {found.who ?? 'Written by hand'}, {exact(new Date(found.at))}
        {isCurrent && ', holds now'}
      </p>
      <Tabs
        label="Views of the version"
        open={isText ? 'text' : 'diff'}
        tabs={[
          { id: 'diff', label: 'Against now', href: `${list}/${id}` },
          { id: 'text', label: 'Text', href: `${list}/${id}?view=text` },
        ]}
      />
      {isText ? (
        <div class="config">
          <Editor field={field} label="Text of the version" text={found.text} />
        </div>
      ) : (
        <div class="scroll stack">
          {effects === undefined && (
            <p class="config-warning">
              The hub would not take this version any more: it names something that is not there now. Copy from its text
              what you need.
            </p>
          )}
          {effects !== undefined && !isCurrent && (
            <section aria-label="What restoring does">
              <h3>What restoring does</h3>
              <EffectsList effects={effects} />
            </section>
          )}
          <DiffView diff={found.diff} label="From now to this version" before="Holds now" after="This version" />
        </div>
      )}
    </>
  )
}
