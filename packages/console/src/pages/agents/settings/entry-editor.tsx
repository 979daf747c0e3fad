/** Edits an entry: a form from the schema of its kind, and the text of the file beside it. Both change the same draft. */
import { useRef } from 'preact/hooks'
import { query, setQuery } from '../../../app/router.ts'
import { showRange } from '../../../components/editor/editor-field.ts'
import { Editor } from '../../../components/editor/editor.tsx'
import { countLines, lineRange } from '../../../components/editor/text-edits.ts'
import type { ConfigSchema } from '../../../components/editor/config-schema.ts'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { StatusBadge } from '../../../components/status/task-state.tsx'
import { ErrorNotice, WarningNote } from '../../../components/status/error-notice.tsx'
import { entryDraft, setEntryDraft, type EntryReviewResult } from './entry-draft.ts'
import { EntryReview } from './entry-review.tsx'
import { entryRootSchema } from './setting-fields.ts'
import type { Entry } from './setting-values.ts'
import { SettingsForm } from './settings-form.tsx'
import { useEntryReview, type EntryReviewState } from './use-entry-review.ts'

const formatTitles = { yaml: 'YAML', json: 'JSON' }

export interface EntryEditorProps {
  readonly name: string
  readonly saved: EntryReviewResult
  /** The hash of the configuration that `saved` is from. */
  readonly base: string
  readonly schema: ConfigSchema
  readonly onApplied: () => void
}

export function EntryEditor({ name, saved, base, schema, onApplied }: EntryEditorProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  const draft = entryDraft(name)
  const review = useEntryReview(name, saved, draft)
  const { state, result } = review
  const view = query.value.get('view')
  const isText = view === 'text'
  // What was edited last, until the hub has returned the other form of it.
  const entry = draft?.entry ?? result.entry
  const text = draft === undefined || (draft.entry !== undefined && state === 'checked') ? result.text : draft.text
  const isReady = state === 'checked' && result.problems.length === 0

  function change(next: { readonly text: string; readonly entry?: Entry }): void {
    const isSame = next.entry === undefined ? next.text === saved.text : isEqual(next.entry, saved.entry)
    const edited = { text: next.text, entry: next.entry, base: draft?.base ?? base }
    setEntryDraft(name, isSame ? undefined : edited)
  }

  function jump(line: number): void {
    setQuery({ view: 'text' })
    // The editor is drawn first.
    setTimeout(() => {
      if (field.current === null) return
      const { from, to } = lineRange(field.current.value, line)
      showRange(field.current, from, to, true)
    })
  }

  if (view === 'review' && draft !== undefined && result.diff !== undefined && result.effects !== undefined) {
    return <EntryReview name={name} text={result.text} base={draft.base} result={result} onApplied={onApplied} />
  }
  const format = formatTitles[result.format]
  return (
    <div class="stack agent-part settings-editor">
      <div class="bar settings-bar">
        <SegmentedControl
          label="Views of the settings"
          value={isText ? 'text' : 'form'}
          options={[
            ['form', 'Form'],
            ['text', format],
          ]}
          onChange={(next) => setQuery({ view: next === 'text' ? 'text' : undefined }, { push: true })}
        />
        <CheckStatus review={review} />
        <span class="grow" />
        <a href="/settings/config">Open the whole file</a>
        {draft !== undefined && (
          <ConfirmButton
            label="Discard"
            question="Discard your changes?"
            onConfirm={async () => setEntryDraft(name, undefined)}
          >
            Your changes are lost. The agent keeps its current settings.
          </ConfirmButton>
        )}
        <button
          type="button"
          class="primary"
          disabled={!isReady}
          aria-describedby="settings-check"
          onClick={() => setQuery({ view: 'review' }, { push: true })}
        >
          Review changes
        </button>
      </div>
      {draft !== undefined && draft.base !== base && (
        <WarningNote>
          <p>The configuration changed while you were editing. Your edits are kept and not applied.</p>
          <div class="row">
            <button type="button" onClick={() => setEntryDraft(name, { ...draft, base })}>
              Keep my edits
            </button>
            <button type="button" onClick={() => setEntryDraft(name, undefined)}>
              Discard my edits
            </button>
          </div>
        </WarningNote>
      )}
      {state === 'failed' && <ErrorNotice reason={review.reason} />}
      <Problems result={result} isShown={draft !== undefined} jump={jump} />
      {isText ? (
        <div class="stack-small settings-text" style={{ '--lines': String(countLines(text)) }}>
          <Editor
            field={field}
            label="Settings as text"
            text={text}
            // The hub is merging what the form changed.
            {...(draft?.entry !== undefined && state === 'checking'
              ? {}
              : { onInput: (next) => change({ text: next }) })}
            problems={draft === undefined ? [] : result.problems.map(({ line = 1, message }) => ({ line, message }))}
            schema={result.format === 'json' ? undefined : entryRootSchema(schema)}
          />
          <p class="hint">Secrets are shown as (not shown) and kept unless you replace them.</p>
        </div>
      ) : entry === undefined ? (
        <WarningNote>Fix the errors in the text to continue in the form.</WarningNote>
      ) : (
        <SettingsForm
          schema={schema}
          saved={saved.entry ?? {}}
          entry={entry}
          problems={draft === undefined ? [] : result.problems}
          format={format}
          onChange={(next) => change({ text, entry: next })}
          openText={() => setQuery({ view: 'text' }, { push: true })}
        />
      )}
    </div>
  )
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function CheckStatus({ review: { state, result } }: { readonly review: EntryReviewState }) {
  const [tone, shape, word] =
    state === 'unchanged'
      ? (['ended', '–', 'No unsaved changes'] as const)
      : state === 'failed'
        ? (['failed', '✕', 'Could not be checked'] as const)
        : result.problems.length > 0
          ? (['failed', '✕', result.problems.length === 1 ? '1 error' : `${result.problems.length} errors`] as const)
          : state === 'checking'
            ? (['working', '○', 'Checking…'] as const)
            : (['done', '●', 'Valid, not applied yet'] as const)
  return (
    <span id="settings-check" role="status">
      <StatusBadge tone={tone} shape={shape} word={word} />
    </span>
  )
}

interface ProblemsProps {
  readonly result: EntryReviewResult
  readonly isShown: boolean
  readonly jump: (line: number) => void
}

function Problems({ result: { problems }, isShown, jump }: ProblemsProps) {
  if (!isShown || problems.length === 0) return null
  return (
    <ul class="stack-tight settings-problems" aria-label="Issues">
      {problems.map(({ path, line, message }, index) => (
        <li key={index} class="mistake">
          {line !== undefined && (
            <button type="button" class="small plain" onClick={() => jump(line)}>
              Line {line}
            </button>
          )}{' '}
          {path !== '' && <code>{path}</code>} {message}
        </li>
      ))}
    </ul>
  )
}
