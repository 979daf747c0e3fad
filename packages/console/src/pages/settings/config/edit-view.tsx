/** The configuration editor: checks while the user types, searches, and leads to the review. */
import { useEffect, useRef } from 'preact/hooks'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { usePaletteActions } from '../../../app/palette-state.ts'
import { navigate, query, setQuery } from '../../../app/router.ts'
import { ConfigRejectionNotice } from '../../../components/config-effects/config-rejection-notice.tsx'
import { CopyButton } from '../../../components/content/copy-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { ConfigConflict } from './conflict.tsx'
import type { ConfigResource } from './config-draft.ts'
import { baseConfig, discardDraft, isDraftEdited, draftText, conflictingConfig, setDraftText } from './config-draft.ts'
import { Editor } from '../../../components/editor/editor.tsx'
import { showRange } from '../../../components/editor/editor-field.ts'
import { FindBar, useFindInText } from '../../../components/editor/find-bar.tsx'
import { lineRange } from '../../../components/editor/text-edits.ts'
import { LastApplied } from './last-applied.tsx'
import { ConfigProblems, useConfigCheck } from './config-check.tsx'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'

const completeKeys = ['Ctrl', 'Space'] as const
const leaveKeys = ['Esc', 'Tab'] as const

export function ConfigEditView({ config }: { readonly config: ConfigResource }) {
  const field = useRef<HTMLTextAreaElement>(null)
  const check = useConfigCheck(draftText.value, isDraftEdited.value)
  const find = useFindInText(field, draftText.value)
  const schema = useResource('schema', (signal) => callAdmin('getConfigSchema', { signal }))
  const { problems, state } = check
  const isRight = isDraftEdited.value && state === 'checked' && problems.length === 0

  function jump(line: number): void {
    const element = field.current
    if (element === null) return
    const { from, to } = lineRange(element.value, line)
    showRange(element, from, to, true)
  }

  // A link may name a line, so that it can point to an error.
  const wanted = Number(query.value.get('line') ?? 0)
  useEffect(() => {
    if (wanted < 1 || field.current === null) return
    jump(wanted)
    setQuery({ line: undefined })
  }, [wanted])

  useShortcuts([
    { key: 'mod+f', label: 'Find in the configuration', run: () => find.open() },
    { key: 'mod+enter', label: 'Review changes', run: () => isRight && navigate('/settings/config/review') },
  ])
  usePaletteActions([
    { title: 'Find in the configuration', run: () => find.open() },
    { title: 'Show versions of the configuration', run: () => navigate('/settings/config/versions') },
  ])

  return (
    <div class="fill config">
      <div class="bar config-bar">
        <p class="config-file mono cut" title={baseConfig.value?.file}>
          {baseConfig.value?.file}
        </p>
        <button type="button" class="plain" onClick={() => find.open()}>
          <Icon name="search" size={14} />
          Find
        </button>
        <CopyButton text={() => draftText.value} label="Copy configuration" />
        <a class="button" href="/settings/config/versions">
          Versions
        </a>
        {isDraftEdited.value && (
          <ConfirmButton label="Discard" question="Discard your changes?" onConfirm={async () => discardDraft()}>
            Your changes are lost. The hub keeps its current configuration.
          </ConfirmButton>
        )}
        <button
          type="button"
          class="primary"
          disabled={!isRight}
          aria-describedby="config-check"
          onClick={() => navigate('/settings/config/review')}
        >
          Review changes
        </button>
      </div>
      <ConfigRejectionNotice />
      {conflictingConfig.value !== undefined && <ConfigConflict />}
      <LastApplied />
      {find.isOpen && <FindBar find={find} />}
      <Editor
        field={field}
        label="Configuration"
        text={draftText.value}
        onInput={setDraftText}
        problems={
          isDraftEdited.value
            ? problems.flatMap(({ line, message }) => (line === undefined ? [] : [{ line, message }]))
            : []
        }
        found={find.isOpen ? find.found : undefined}
        schema={baseConfig.value?.file.endsWith('.json') === true ? undefined : schema.value.value}
        describedBy="config-hint"
      />
      <ConfigProblems check={check} isEdited={isDraftEdited.value} jump={jump} reload={config.reload} />
      <p class="config-foot faint">
        <span id="config-hint">
          Secrets are shown as <code>(not shown)</code> and kept unless you replace them. <Keys names={completeKeys} />{' '}
          completes. <Keys names={leaveKeys} /> leaves the editor.
        </span>
      </p>
    </div>
  )
}

function Keys({ names }: { readonly names: readonly string[] }) {
  return (
    <>
      {names.map((name) => (
        <kbd key={name}>{name}</kbd>
      ))}
    </>
  )
}
