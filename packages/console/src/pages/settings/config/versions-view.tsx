/** Applied versions: author, time and note; view, compare with the current one, restore. */
import { useRef } from 'preact/hooks'
import { callAdmin, type AdminResponse } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { showToast } from '../../../app/announce.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate, query } from '../../../app/router.ts'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { DetailHead } from '../../../components/layout/page-head.tsx'
import { SplitView } from '../../../components/layout/split-view.tsx'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { Tabs } from '../../../components/layout/tabs.tsx'
import { RelativeTime, formatExactTime, formatSecond } from '../../../components/time.tsx'
import { EmptyState, LoadState } from '../../../components/status/error-notice.tsx'
import { resetDraft, isDraftEdited, type ConfigResource } from './config-draft.ts'
import { LineDiffView } from '../../../components/diff/line-diff-view.tsx'
import { Editor } from '../../../components/editor/editor.tsx'
import { EffectsList } from '../../../components/config-effects/effects-list.tsx'
import { setLastApplied } from './last-applied.tsx'
import { effectsSummary } from '../../../components/config-effects/effects.ts'

type Version = AdminResponse<'listConfigVersions'>['versions'][number]

const list = '/settings/config/versions'

export function VersionsView({ config, id }: { readonly config: ConfigResource; readonly id: string | undefined }) {
  const loaded = useResource(
    'versions',
    (signal) => callAdmin('listConfigVersions', { signal }),
    ({ type }) => type === 'config',
  )
  const versions = loaded.value.value?.versions ?? []
  const at = versions.findIndex((version) => version.id === id)
  const move = (by: number): void => {
    const next = versions[at < 0 ? 0 : Math.min(versions.length - 1, Math.max(0, at + by))]
    if (next !== undefined) navigate(`${list}/${next.id}${location.search}`, { replace: id !== undefined })
  }
  useShortcuts([
    { key: 'j', label: 'Next version', run: () => move(1) },
    { key: 'k', label: 'Previous version', run: () => move(-1) },
    { key: 'Escape', label: 'Back', run: () => navigate(id === undefined ? '/settings/config' : list) },
  ])

  if (loaded.value.value === undefined || loaded.problem.value !== undefined)
    return <LoadState of={loaded} what="the versions" />
  if (versions.length === 0) {
    return (
      <EmptyState title="No versions yet">
        <p>The hub keeps the last 50 applied configurations. Each can be compared and restored.</p>
        <a class="button primary" href="/settings/config">
          Edit configuration
        </a>
      </EmptyState>
    )
  }
  return (
    <SplitView
      name="versions"
      initial={380}
      list={
        <>
          <div class="bar config-bar">
            <h2 class="grow">Versions</h2>
            <a class="button" href="/settings/config">
              Back to editor
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

function versionTitle({ note, who }: Pick<Version, 'note' | 'who'>): string {
  return note ?? (who === undefined ? 'Edited in the file' : 'No note')
}

function VersionRow({ version, isOpen }: { readonly version: Version; readonly isOpen: boolean }) {
  const { id, at, who, isCurrent } = version
  return (
    <a class="list-row config-version" href={`${list}/${id}`} aria-current={isOpen ? 'true' : undefined}>
      <span class="grow">
        <span class="cut config-note">{versionTitle(version)}</span>
        <span class="faint cut">
          {who ?? 'edited in the file'}, <RelativeTime at={at} />
        </span>
      </span>
      {isCurrent && <StatusBadge tone="done" shape="●" word="current" />}
    </a>
  )
}

function OneVersion({ id, config }: { readonly id: string; readonly config: ConfigResource }) {
  const field = useRef<HTMLTextAreaElement>(null)
  // Compares with the current version, and reloads when that changes.
  const loaded = useResource(
    `version ${id}`,
    (signal) => callAdmin('getConfigVersion', { params: { id }, signal }),
    ({ type }) => type === 'config',
  )
  const found = loaded.value.value
  if (found === undefined || loaded.problem.value !== undefined) return <LoadState of={loaded} what="the version" />

  async function restore(): Promise<void> {
    const { hash } = (await callAdmin('getConfig')) ?? {}
    const { effects } = await callAdmin('restoreConfig', {
      params: { id },
      body: { note: `Restored version of ${formatSecond(found?.at ?? 0)}`, base: hash },
    })
    if (!isDraftEdited.peek()) resetDraft(await callAdmin('getConfig'))
    config.reload()
    loaded.reload()
    setLastApplied(effects)
    showToast(`Restored. ${effectsSummary(effects)}`)
  }

  const isText = query.value.get('view') === 'text'
  const { effects, isCurrent } = found
  return (
    <>
      <DetailHead title={versionTitle(found)} backTo={list}>
        <CopyButton text={found.text} label="Copy text" />
        <ConfirmButton
          label="Restore"
          question="Restore this version?"
          danger={false}
          disabled={isCurrent || effects === undefined}
          onConfirm={restore}
        >
          {effects !== undefined && <EffectsList effects={effects} />}
          <p>The current configuration is kept as a version.</p>
        </ConfirmButton>
      </DetailHead>
      <p class="config-about faint">
        {found.who ?? 'Edited in the file'}, {formatExactTime(new Date(found.at))}
        {isCurrent && `, current`}
      </p>
      <Tabs
        label="Views of the version"
        open={isText ? 'text' : 'diff'}
        tabs={[
          { id: 'diff', label: 'Compare with current', href: `${list}/${id}` },
          { id: 'text', label: 'Text', href: `${list}/${id}?view=text` },
        ]}
      />
      {isText ? (
        <div class="fill config">
          <Editor field={field} label="Text of the version" text={found.text} />
        </div>
      ) : (
        <div class="scroll stack">
          {effects === undefined && (
            <p class="config-warning">
              This version cannot be restored: it refers to something that no longer exists. Copy what you need from its
              text.
            </p>
          )}
          {effects !== undefined && !isCurrent && (
            <section aria-label="Effects of restoring">
              <h3>Effects of restoring</h3>
              <EffectsList effects={effects} />
            </section>
          )}
          <LineDiffView diff={found.diff} label="From current to this version" before="Current" after="This version" />
        </div>
      )}
    </>
  )
}
