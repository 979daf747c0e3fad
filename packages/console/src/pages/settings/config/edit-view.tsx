/** Writing the configuration: checked while one types, found through, and on to the comparison when it is right. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { useResource } from '../../../api/resource.ts'
import { useKeys } from '../../../app/keys.ts'
import { useActions } from '../../../app/palette-state.ts'
import { go, query, setQuery } from '../../../app/router.ts'
import { Copy } from '../../../parts/copy.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Conflict } from './conflict.tsx'
import type { ConfigResource } from './config-resource.ts'
import { base, discard, isEdited, text, theirs, type } from './draft.ts'
import { lineRange } from './edit-text.ts'
import { Editor } from './editor.tsx'
import { showRange } from './editor-field.ts'
import { FindBar, useFind } from './find-bar.tsx'
import { LastApplied } from './last-applied.tsx'
import { Problems } from './problems.tsx'
import { useCheck } from './use-check.ts'
import { Confirm } from '../../../parts/confirm.tsx'

export function EditView({ config }: { readonly config: ConfigResource }) {
  const field = useRef<HTMLTextAreaElement>(null)
  const spot = useSignal({ line: 1, column: 1 })
  const check = useCheck(text.value, isEdited.value)
  const find = useFind(field, text.value)
  const schema = useResource('schema', (signal) => call('getConfigSchema', { signal }))
  const { problems, state } = check
  const isRight = isEdited.value && state === 'checked' && problems.length === 0

  function jump(line: number): void {
    const element = field.current
    if (element === null) return
    const { from, to } = lineRange(element.value, line)
    showRange(element, from, to, true)
    spot.value = { line, column: 1 }
  }

  // A link may name a line: those who are told of a mistake can be sent to it.
  const wanted = Number(query.value.get('line') ?? 0)
  useEffect(() => {
    if (wanted < 1 || field.current === null) return
    jump(wanted)
    setQuery({ line: undefined })
  }, [wanted])

  useKeys([
    { key: 'mod+f', does: 'Find in the configuration', run: () => find.open() },
    { key: 'mod+enter', does: 'Review the changes', run: () => isRight && go('/settings/config/review') },
  ])
  useActions([
    { title: 'Find in the configuration', run: () => find.open() },
    { title: 'Versions of the configuration', run: () => go('/settings/config/versions') },
  ])

  return (
    <div class="config">
      <div class="config-bar">
        <p class="config-file mono cut" title={base.value?.file}>
          {base.value?.file}
        </p>
        <button type="button" class="plain" onClick={() => find.open()}>
          <Icon name="search" size={14} />
          Find
        </button>
        <Copy text={() => text.value} label="Copy the configuration" />
        <a class="button" href="/settings/config/versions">
          Versions
        </a>
        {isEdited.value && (
          <Confirm label="Discard" question="Discard your changes?" does={async () => discard()}>
            What you typed is gone then. The hub goes on with what it has.
          </Confirm>
        )}
        <button
          type="button"
          class="primary"
          disabled={!isRight}
          aria-describedby="config-check"
          onClick={() => go('/settings/config/review')}
        >
          Review changes
        </button>
      </div>
      {theirs.value !== undefined && <Conflict />}
      <LastApplied />
      {find.isOpen && <FindBar find={find} />}
      <Editor
        field={field}
        label="Configuration"
        text={text.value}
        onInput={type}
        onSpot={(at) => (spot.value = at)}
        wrong={isEdited.value ? problems.flatMap(({ line }) => line ?? []) : []}
        found={find.isOpen ? find.found : undefined}
        schema={base.value?.file.endsWith('.json') === true ? undefined : schema.value.value}
        describedBy="config-hint"
      />
      <Problems check={check} isEdited={isEdited.value} jump={jump} reload={config.reload} />
      <p class="config-foot faint">
        <span id="config-hint">
          Secrets are <code>(not shown)</code> and stay what they are. <kbd>Ctrl</kbd> <kbd>Space</kbd> offers keys;{' '}
          <kbd>Esc</kbd> then <kbd>Tab</kbd> leaves the text.
        </span>
        <span class="config-spot">
          Line {spot.value.line}, column {spot.value.column}
        </span>
      </p>
    </div>
  )
}
