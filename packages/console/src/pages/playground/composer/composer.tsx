/** The message composer: text, files by drop, paste and picker, data as JSON. Enter sends; Shift-Enter starts a new line. */
import type { Json, Part } from '@parley/a2a'
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../../../components/icon.tsx'
import { formatBytes } from '../../../components/format.ts'
import { addAttachments, fileParts, parseDataPart } from './attachments.ts'
import { useDraft } from './draft.ts'
import { FilePick, FileChips } from './file-chips.tsx'
import './composer.css'

export interface ComposerProps {
  readonly agent: string
  /** The conversation whose draft this is; empty for a new one. */
  readonly context: string
  /** Where the next message goes, as text. */
  readonly label: string
  readonly initial: string
  /** The agent is working: Cancel is offered. */
  readonly isBusy: boolean
  /** Whether a message is accepted now. */
  readonly canSend: boolean
  readonly onSend: (parts: readonly Part[]) => void
  readonly onCancel: () => void
}

export function Composer({ agent, context, label, initial, isBusy, canSend, onSend, onCancel }: ComposerProps) {
  const { text, files, hasData, data } = useDraft(agent, context, initial)
  const refused = useSignal<readonly string[]>([])
  const isOver = useSignal(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const read = hasData.value ? parseDataPart(data.value) : undefined
  const mistake = read !== undefined && 'mistake' in read ? read.mistake : undefined
  const isEmpty = text.value.trim() === '' && files.value.length === 0 && read === undefined
  useEffect(() => field.current?.focus(), [])
  useLayoutEffect(() => grow(field.current), [text.value])

  function add(more: readonly File[]): void {
    const next = addAttachments(files.peek(), more)
    files.value = next.files
    refused.value = next.refused
  }

  async function send(): Promise<void> {
    if (!canSend || isEmpty || mistake !== undefined) return
    const words: readonly Part[] = text.value.trim() === '' ? [] : [{ text: text.value }]
    const given: readonly Part[] = read !== undefined && 'data' in read ? [{ data: read.data as Json }] : []
    const parts = [...words, ...given, ...(await fileParts(files.value))]
    text.value = ''
    data.value = ''
    hasData.value = false
    files.value = []
    refused.value = []
    onSend(parts)
    field.current?.focus()
  }

  function press(event: KeyboardEvent): void {
    if (event.key === 'Escape') return field.current?.blur()
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
    event.preventDefault()
    void send()
  }

  function paste(event: ClipboardEvent): void {
    const given = [...(event.clipboardData?.files ?? [])]
    if (given.length === 0) return
    event.preventDefault()
    add(given)
  }

  function drop(event: DragEvent): void {
    event.preventDefault()
    isOver.value = false
    add([...(event.dataTransfer?.files ?? [])])
  }

  return (
    <form
      class={isOver.value ? 'stack-small composer over' : 'stack-small composer'}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
      onDragOver={(event) => {
        event.preventDefault()
        isOver.value = true
      }}
      onDragLeave={() => (isOver.value = false)}
      onDrop={drop}
    >
      <FileChips files={files.value} onRemove={(file) => (files.value = files.value.filter((one) => one !== file))} />
      {refused.value.map((why) => (
        <p key={why} class="mistake" role="alert">
          {why}
        </p>
      ))}
      {hasData.value && (
        <DataEditor
          text={data.value}
          mistake={mistake}
          onInput={(value) => (data.value = value)}
          onSend={() => void send()}
        />
      )}
      <textarea
        ref={field}
        class="composer-text"
        dir="auto"
        rows={1}
        aria-label={label}
        placeholder={`${label}…`}
        value={text.value}
        onInput={(event) => (text.value = event.currentTarget.value)}
        onKeyDown={press}
        onPaste={paste}
      />
      <div class="bar composer-foot">
        <FilePick onFiles={add} />
        <button
          type="button"
          class="plain small"
          aria-pressed={hasData.value}
          onClick={() => (hasData.value = !hasData.value)}
        >
          <Icon name="braces" size={14} /> Data
        </button>
        <span class="hint composer-hint">
          {isOver.value
            ? 'Drop files here'
            : files.value.length > 0
              ? totalSizeText(files.value)
              : 'Press Enter to send'}
        </span>
        <span class="grow" />
        {isBusy && (
          <button type="button" class="danger" onClick={onCancel} title="Cancel the task">
            <Icon name="stop" size={14} /> Cancel
          </button>
        )}
        {canSend && (
          <button type="submit" class="primary" disabled={isEmpty || mistake !== undefined}>
            <Icon name="send" size={14} /> Send
          </button>
        )}
      </div>
    </form>
  )
}

function totalSizeText(files: readonly File[]): string {
  return formatBytes(files.reduce((sum, { size }) => sum + size, 0))
}

const maxHeightPx = 240

function grow(field: HTMLTextAreaElement | null): void {
  if (field === null) return
  field.style.height = 'auto'
  field.style.height = `${Math.min(maxHeightPx, field.scrollHeight + 2)}px`
}

interface DataEditorProps {
  readonly text: string
  readonly mistake: string | undefined
  readonly onInput: (text: string) => void
  readonly onSend: () => void
}

function DataEditor({ text, mistake, onInput, onSend }: DataEditorProps) {
  const isFine = mistake === undefined && text.trim() !== ''
  return (
    <div class="field composer-data">
      <label for="composer-data">Data, as JSON</label>
      <textarea
        id="composer-data"
        class="mono"
        rows={4}
        spellcheck={false}
        placeholder={'{ "city": "Rome" }'}
        value={text}
        aria-invalid={mistake !== undefined}
        aria-describedby="composer-data-note"
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend()
        }}
      />
      <p class={mistake === undefined ? 'hint' : 'mistake'} id="composer-data-note" role="status">
        {mistake ?? (isFine ? 'Valid JSON' : 'Sent as a separate data part')}
        {isFine && (
          <button type="button" class="plain small" onClick={() => onInput(JSON.stringify(JSON.parse(text), null, 2))}>
            Format
          </button>
        )}
      </p>
    </div>
  )
}
